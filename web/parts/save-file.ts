/** Browsers may begin to read the bytes a while after the click. */
const KEPT_MS = 40_000;

/** Lets the browser keep bytes as a file, as a click on a download link would. */
export function saveFile(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
}
