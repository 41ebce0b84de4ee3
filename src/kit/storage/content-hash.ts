import { open } from 'node:fs/promises';

const CHUNK_BYTES = 1 << 20;

/** Returns the SHA-256 of bytes, as 64 lower-case hex digits. */
export function sha256(bytes: Uint8Array | string): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
}

/**
 * Returns the SHA-256 of a file, as 64 lower-case hex digits. Reads chunks of 1 MiB, so that memory use does
 * not depend on the file size.
 * @throws system errors if the file cannot be read; the signal's reason after an abort.
 */
export async function sha256File(path: string, signal?: AbortSignal): Promise<string> {
  const file = await open(path, 'r');
  try {
    const hasher = new Bun.CryptoHasher('sha256');
    const chunk = new Uint8Array(CHUNK_BYTES);
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) return hasher.digest('hex');
      hasher.update(chunk.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
