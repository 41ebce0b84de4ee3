/**
 * A lower bound of the number of tokens of a text, from its bytes. A prompt that cannot fit into the context is rejected
 * without tokenizing it, which takes about 1 µs per byte and delays all other responses of the model.
 */

/** Number of tokens of a text, or a lower bound. */
export type TokenCount = `${number}` | `at least ${number}`;

/** The longest tokens of a vocabulary, in UTF-8 bytes. */
export interface TokenBounds {
  /** All bytes of a token. */
  readonly bytes: number;
  /** Bytes of a token that are white space. */
  readonly spaceBytes: number;
  /** Bytes of a token that are not white space. */
  readonly wordBytes: number;
}

/** Bounds that hold for every vocabulary: no text is too long. */
export const NO_TOKEN_BOUNDS: TokenBounds = {
  bytes: Number.POSITIVE_INFINITY,
  spaceBytes: Number.POSITIVE_INFINITY,
  wordBytes: Number.POSITIVE_INFINITY,
};

/** The bounds of a vocabulary. @param texts the text of each token. */
export function tokenBounds(texts: Iterable<string>): TokenBounds {
  let [bytes, spaceBytes, wordBytes] = [1, 1, 1];
  for (const text of texts) {
    const counts = countBytes(text);
    bytes = Math.max(bytes, counts.spaceBytes + counts.wordBytes);
    spaceBytes = Math.max(spaceBytes, counts.spaceBytes);
    wordBytes = Math.max(wordBytes, counts.wordBytes);
  }
  return { bytes, spaceBytes, wordBytes };
}

/**
 * A number of tokens that the texts of a prompt cannot fall below: the white space needs at least its bytes divided by the
 * longest white space in a token, the other characters likewise.
 */
export function minTokens(texts: Iterable<string>, bounds: TokenBounds): number {
  let [spaceBytes, wordBytes] = [0, 0];
  for (const text of texts) {
    const counts = countBytes(text);
    spaceBytes += counts.spaceBytes;
    wordBytes += counts.wordBytes;
  }
  return Math.ceil(
    Math.max(
      (spaceBytes + wordBytes) / bounds.bytes,
      spaceBytes / bounds.spaceBytes,
      wordBytes / bounds.wordBytes,
    ),
  );
}

/** White space of ASCII only: all vocabularies contain it as it is. */
function countBytes(text: string): { readonly spaceBytes: number; readonly wordBytes: number } {
  let spaceBytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) spaceBytes += 1;
  }
  return { spaceBytes, wordBytes: Buffer.byteLength(text) - spaceBytes };
}
