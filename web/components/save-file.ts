import { revokeLater } from './object-urls.ts';

/** Downloads bytes as a file, like a click on a download link. */
export function saveFile(bytes: Blob, name: string): void {
  const address = URL.createObjectURL(bytes);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  revokeLater(address);
}
