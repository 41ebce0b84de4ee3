#!/bin/sh
# Makes a repository of Debian packages without files. Usage: empty-packages.sh FOLDER NAME=VERSION …
set -eu
folder="$1"
shift
mkdir -p "$folder"
: >"$folder/Packages"
for package in "$@"; do
  name="${package%%=*}"
  tree="$(mktemp -d)"
  mkdir "$tree/DEBIAN"
  printf '%s\n' "Package: $name" "Version: ${package#*=}" 'Architecture: amd64' 'Maintainer: none <none@localhost>' \
    'Description: stand-in' >"$tree/DEBIAN/control"
  file="${name}_${package#*=}.deb"
  dpkg-deb --build --root-owner-group "$tree" "$folder/$file" >/dev/null
  {
    cat "$tree/DEBIAN/control"
    echo "Filename: ./$file"
    echo "Size: $(stat -c %s "$folder/$file")"
    echo "SHA256: $(sha256sum "$folder/$file" | cut -d ' ' -f 1)"
    echo
  } >>"$folder/Packages"
  rm -r "$tree"
done
