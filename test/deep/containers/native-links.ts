/**
 * A shell script that prints, for every ELF file of an image that the service may load, the libraries that the dynamic
 * linker does not find: one line `FILE: LIBRARY`, and at the end the number of files.
 */
export const MISSING_LIBRARIES = `
count=0
for file in $(find /app /usr/local/bin/bun -type f -size +4k ! -name '*.ts' ! -name '*.js' ! -name '*.json'); do
  [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
  count=$((count + 1))
  ldd "$file" 2>&1 | sed -nE "s|^\\s*(\\S+) => not found.*|$file: \\1|p; s|^.*(version .* not found.*)|$file: \\1|p"
done
echo "$count files"
`;
