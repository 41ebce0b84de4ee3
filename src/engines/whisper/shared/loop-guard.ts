/** Detects repetition loops: a decoder that has lost the audio and repeats itself, most often in audio with little speech. */

import { deflateSync } from 'node:zlib';

/** Maximum length of a repeated block of tokens. Sentences are rarely longer. */
const MAX_BLOCK = 64;
/**
 * Minimum number of consecutive repetitions of a block of 1, 2, … tokens at the end that are a loop. Speakers repeat words
 * and phrases ("no, no, no, no"), but rarely a whole sentence verbatim.
 */
const MIN_REPETITIONS = [6, 5, 4, 3, 3, 3, 3] as const;
const MIN_REPETITIONS_OF_LONG_BLOCK = 2;

/**
 * Whether the tokens end with a loop. Takes a few hundred comparisons, so it can be called after each token.
 * {@link repeatedAtEnd} returns the number of tokens to drop.
 * @param tokens text tokens only, because timestamps differ between repetitions.
 */
export function endsInLoop(tokens: readonly number[]): boolean {
  const maxBlock = Math.min(MAX_BLOCK, Math.floor(tokens.length / 2));
  for (let length = 1; length <= maxBlock; length++) {
    let same = 0;
    for (let index = tokens.length - 1 - length; index >= 0; index--) {
      if (tokens[index] !== tokens[index + length]) break;
      same++;
    }
    const times = 1 + Math.floor(same / length);
    if (times >= (MIN_REPETITIONS[length - 1] ?? MIN_REPETITIONS_OF_LONG_BLOCK)) return true;
  }
  return false;
}

/** Tokens per second of a fast speaker, in the scripts that Whisper encodes most efficiently. */
const FAST_TOKENS_PER_S = 8;
/** Allowance for short utterances. */
const SPARE_TOKENS = 10;

/**
 * Returns the number of text tokens of a fast speaker for the whole duration. Below this number a repetitive text may be
 * correct, because speakers repeat words and sentences.
 */
export function fastSpeechTokens(durationS: number): number {
  return SPARE_TOKENS + Math.ceil(Math.max(0, durationS) * FAST_TOKENS_PER_S);
}

/** Maximum number of tokens per second of speech, in scripts for which Whisper needs several tokens per letter. */
const MAX_TOKENS_PER_S = 20;

/** Fewer repeated tokens occur by chance. */
const MIN_REPEATED = 3;

/**
 * Returns the number of tokens at the end that repeat the tokens one block before them, which may become a loop. 0 for
 * fewer than {@link MIN_REPEATED} tokens.
 */
export function repeatedAtEnd(tokens: readonly number[]): number {
  let max = 0;
  for (let length = 1; length <= Math.min(MAX_BLOCK, tokens.length - 1); length++) {
    let same = 0;
    while (same < tokens.length - length && tokens.at(-1 - same) === tokens.at(-1 - same - length)) same++;
    max = Math.max(max, same);
  }
  return max < MIN_REPEATED ? 0 : max;
}

/** Returns the maximum number of text tokens for audio of this duration. */
export function maxSpeechTokens(durationS: number): number {
  return SPARE_TOKENS + Math.ceil(Math.max(0, durationS) * MAX_TOKENS_PER_S);
}

/**
 * Returns the size of a text divided by its compressed size. openai/whisper treats a text with a ratio above 2.4 as
 * repetitive. 0 for an empty text.
 */
export function compressionRatio(text: string): number {
  const bytes = new TextEncoder().encode(text);
  return bytes.length / deflateSync(bytes).length;
}
