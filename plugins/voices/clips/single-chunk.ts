/** A stream of one chunk. */
export async function* singleChunk(
  bytes: Uint8Array<ArrayBuffer>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  yield bytes;
}
