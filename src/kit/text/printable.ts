/** A text without control and format characters, which a terminal would interpret, and without line breaks. */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}
