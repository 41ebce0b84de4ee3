/**
 * Returns the `content-disposition` header value for a download (RFC 6266). `filename*` carries the exact name (RFC 8187);
 * `filename` is the fallback for older clients, with every character outside printable ASCII replaced by `_`.
 */
export function attachment(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
