/** Entity tags of a header that lists them (RFC 9110, 8.8.3). */
const TAGS = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/**
 * Whether the client's copy is current (RFC 9110, 13.1.2): `If-None-Match` lists this tag, strong or weak, or is `*`.
 * @param header the value of `If-None-Match`.
 * @param tag the strong tag of the content, including the quotation marks.
 */
export function matchesEntityTag(header: string | null, tag: string): boolean {
  if (header === null) return false;
  return header.trim() === '*' || Array.from(header.matchAll(TAGS), ([, opaque]) => opaque).includes(tag);
}
