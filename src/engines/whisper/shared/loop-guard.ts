/** Signs that a decoder has lost the audio and goes on by itself, which Whisper does most when it hears little. */

import { deflateSync } from 'node:zlib';

/** Longest block of tokens that is looked for; a sentence is seldom longer. */
const MAX_BLOCK = 64;
/**
 * How often a block of 1, 2, … tokens must stand at the end, one after the other, to be a loop. People do say
 * "no, no, no, no" and repeat a phrase, but hardly a whole sentence word for word.
 */
const MIN_TIMES = [6, 5, 4, 3, 3, 3, 3] as const;
const MIN_TIMES_OF_LONG = 2;

/**
 * Whether the tokens end with a block of tokens that stands there often enough to be a loop. Takes some hundred
 * comparisons, so it can be asked after each token. {@link repeatedAtEnd} tells what of it can be dropped.
 * @param tokens text tokens alone: timestamps differ from one repetition to the next.
 */
export function endsInLoop(tokens: readonly number[]): boolean {
  const longest = Math.min(MAX_BLOCK, Math.floor(tokens.length / 2));
  for (let length = 1; length <= longest; length++) {
    let same = 0;
    for (let index = tokens.length - 1 - length; index >= 0; index--) {
      if (tokens[index] !== tokens[index + length]) break;
      same++;
    }
    const times = 1 + Math.floor(same / length);
    if (times >= (MIN_TIMES[length - 1] ?? MIN_TIMES_OF_LONG)) return true;
  }
  return false;
}

/** A quick speaker's tokens a second, in the scripts that Whisper writes best. */
const QUICK_TOKENS_PER_S = 8;
/** Added for short utterances, which begin and end in the middle of a second. */
const SPARE_TOKENS = 10;

/**
 * Text tokens that take a quick speaker all of the audio. Up to there a text that repeats itself may be what was
 * said: people do say "no, no, no", and a whole sentence again to who does not answer.
 */
export function quickTokens(durationS: number): number {
  return SPARE_TOKENS + Math.ceil(Math.max(0, durationS) * QUICK_TOKENS_PER_S);
}

/** Tokens a second that no speaker exceeds, in scripts of which Whisper needs several tokens a letter. */
const MAX_TOKENS_PER_S = 20;

/** Fewer tokens than this stand twice by chance. */
const MIN_REPEATED = 3;

/**
 * How many tokens at the end repeat, one by one, those that stand a block before them: what may become a loop,
 * long before it is one. 0 when fewer than three do.
 */
export function repeatedAtEnd(tokens: readonly number[]): number {
  let most = 0;
  for (let length = 1; length <= Math.min(MAX_BLOCK, tokens.length - 1); length++) {
    let same = 0;
    while (same < tokens.length - length && tokens.at(-1 - same) === tokens.at(-1 - same - length)) same++;
    most = Math.max(most, same);
  }
  return most < MIN_REPEATED ? 0 : most;
}

/** Text tokens that audio of this length can hold at most. */
export function mostTokens(durationS: number): number {
  return SPARE_TOKENS + Math.ceil(Math.max(0, durationS) * MAX_TOKENS_PER_S);
}

/**
 * Bytes of a text over bytes of it compressed, as openai/whisper measures how much a text repeats itself; above
 * 2.4 it is taken for a loop. 0 for no text.
 */
export function compressionRatio(text: string): number {
  const bytes = new TextEncoder().encode(text);
  return bytes.length / deflateSync(bytes).length;
}
