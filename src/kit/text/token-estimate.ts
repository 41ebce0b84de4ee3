/** Token estimates for engines that report no counts. The same for all engines, so that billing is, too. */

import { codePoints } from '../validation/code-points.ts';

/** OpenAI's audio models use one token per 100 ms of input speech. */
const AUDIO_TOKENS_PER_S = 10;
/** English text has about four characters per token. */
const CHARACTERS_PER_TOKEN = 4;

/** Returns the tokens of input audio, rounded up. */
export function audioTokens(audioS: number): number {
  return Math.ceil(audioS * AUDIO_TOKENS_PER_S);
}

/** Returns the tokens of a text, rounded up. */
export function textTokens(text: string): number {
  return characterTokens(codePoints(text));
}

/** Returns the tokens of a text with a number of Unicode code points, rounded up. */
export function characterTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
