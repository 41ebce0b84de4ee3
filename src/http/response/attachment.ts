/**
 * `content-disposition` of an answer that is to be saved under a name (RFC 6266): the name as it is for whoever reads
 * RFC 8187, and without what is not plain ASCII for the others.
 */
export function attachment(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
