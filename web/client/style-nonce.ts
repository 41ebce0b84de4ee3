/**
 * The nonce that the page's Content-Security-Policy allows style elements with. For libraries that write such
 * elements; the server puts a new one into every page (src/http/routes/console.ts).
 */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
}
