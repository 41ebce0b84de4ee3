/** Tokens of transcripts in OpenAI's wire format, which is the same over HTTP and in realtime sessions. */

import { type Static, Type } from '@sinclair/typebox';
import type { TextToken } from '../contract/engines/engine.ts';
import { closed } from '../kit/validation/schemas.ts';

export const LogprobSchema = closed({
  token: Type.String({
    description: 'Text of the token. Bytes that are not a whole character are written as `\\xe2`.',
    examples: [' not'],
  }),
  logprob: Type.Number({
    maximum: 0,
    description: 'Natural logarithm of the probability of the token.',
    examples: [-0.05],
  }),
  bytes: Type.Array(Type.Integer({ minimum: 0, maximum: 255 }), {
    description: 'UTF-8 bytes of the token. Those of all tokens together are the text.',
    examples: [[32, 110, 111, 116]],
  }),
});

export type Logprob = Readonly<Static<typeof LogprobSchema>>;

/** Returns `logprobs`; undefined if the engine reports no tokens. */
export function wireLogprobs(tokens: readonly TextToken[] | undefined): Logprob[] | undefined {
  return tokens?.map(({ bytes, logProbability }) => ({
    token: tokenText(bytes),
    logprob: logProbability,
    bytes: [...bytes],
  }));
}

/** A character, or a byte that is not part of a whole character. */
const CHARACTERS = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|./gs;

/** The text of a token. OpenAI writes bytes that are not a whole character as escape sequences. */
function tokenText(bytes: readonly number[]): string {
  const decoded = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
  if (!decoded.includes('\ufffd')) return decoded;
  const parts = String.fromCharCode(...bytes).match(CHARACTERS) ?? [];
  return parts.map((part) => (part.length > 1 || part < '\x80' ? decodedPart(part) : escaped(part))).join('');
}

function decodedPart(part: string): string {
  return Buffer.from(part, 'latin1').toString('utf8');
}

function escaped(byte: string): string {
  return `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
