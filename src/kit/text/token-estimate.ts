/** Tokens of what an engine gives no count for. The same for every engine, so that billing is too. */

import { codePoints } from '../validation/code-points.ts';

/** OpenAI's audio models make one token of 100 ms of speech that goes in. */
const AUDIO_TOKENS_PER_S = 10;
/** About four characters of English make a token. */
const CHARACTERS_PER_TOKEN = 4;

/** Tokens of audio that goes in, rounded up. */
export function audioTokens(audioS: number): number {
  return Math.ceil(audioS * AUDIO_TOKENS_PER_S);
}

/** Tokens of a text, rounded up. */
export function textTokens(text: string): number {
  return characterTokens(codePoints(text));
}

/** Tokens of a text of so many Unicode code points, rounded up. */
export function characterTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
