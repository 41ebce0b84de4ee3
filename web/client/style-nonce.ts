/**
 * Returns the nonce that the Content-Security-Policy of the page allows for style elements, for libraries
 * that create such elements. The server generates one per response (src/http/routes/console.ts).
 */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
}
