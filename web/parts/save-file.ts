/** Lets the browser keep bytes as a file, as a click on a download link would. */
export function saveFile(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has taken hold of the bytes with the click.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}
