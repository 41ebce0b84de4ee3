/** Lifetime of the object URL in ms: browsers may start reading some time after the click. */
const URL_LIFETIME_MS = 40_000;

/** Downloads bytes as a file, like a click on a download link. */
export function saveFile(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), URL_LIFETIME_MS);
}
