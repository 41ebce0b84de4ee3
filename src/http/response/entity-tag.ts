/** Entity tags, as a header lists them (RFC 9110, 8.8.3). */
const TAGS = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/**
 * Whether a client has the content already (RFC 9110, 13.1.2): one of its tags is this one, weak or strong, or it has any.
 * @param header the value of `If-None-Match`.
 * @param tag strong, with its quotation marks.
 */
export function isKnownTo(header: string | null, tag: string): boolean {
  if (header === null) return false;
  return header.trim() === '*' || Array.from(header.matchAll(TAGS), ([, opaque]) => opaque).includes(tag);
}
