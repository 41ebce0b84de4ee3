/** Decodes bytes that are known to be UTF-8. Faster than a `TextDecoder`, which validates them. */
export function decodeUtf8({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): string {
  return Buffer.from(buffer, byteOffset, length).toString();
}
