/** Text of bytes that are UTF-8: faster than a decoder, which would look whether they are. */
export function textOf({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): string {
  return Buffer.from(buffer, byteOffset, length).toString();
}
