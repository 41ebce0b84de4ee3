/** What the platform says of its audio: the text frames that it sends (reference A.1). */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { MAX_RATE_HZ, MIN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { firstIssue } from '../../../src/kit/validation/value-errors.ts';

/** The rules, and what the AsyncAPI document shows. Fields without a name here are ignored. */
export const StartSchema = Type.Object({
  type: Type.Literal('start'),
  encoding: Type.Optional(
    oneOf(['linear16'], { default: 'linear16', description: 'Signed 16-bit little-endian samples.' }),
  ),
  container: Type.Optional(oneOf(['raw'], { default: 'raw', description: 'Samples without a header.' })),
  sampleRate: Type.Optional(
    Type.Integer({
      minimum: MIN_RATE_HZ,
      maximum: MAX_RATE_HZ,
      default: 16_000,
      description: 'Samples a second of each channel.',
    }),
  ),
  channels: Type.Optional(
    Type.Union([Type.Literal(1), Type.Literal(2)], {
      default: 2,
      description: 'Of two, the first is the customer, and the second, the assistant, is dropped.',
    }),
  ),
  language: Type.Optional(
    Type.Unknown({ description: 'ISO 639-1 code of what the customer speaks: a hint, if it is a text.' }),
  ),
});
const checker = TypeCompiler.Compile(StartSchema);

/** How the audio of a call comes: signed 16-bit little-endian samples, interleaved. */
export interface CallAudio {
  readonly rateHz: number;
  readonly channels: 1 | 2;
  /** What the platform says is spoken, if it is a text; nobody has looked whether a model knows it. */
  readonly language: string | undefined;
}

/** Of calls whose audio comes without a word about it, and of fields that are left out. */
export const USUAL_AUDIO: CallAudio = { rateHz: 16_000, channels: 2, language: undefined };

export type TextFrame =
  | { readonly kind: 'start'; readonly audio: CallAudio }
  /** A start that cannot be used; the message says which field, and what is allowed. */
  | { readonly kind: 'wrong_start'; readonly message: string }
  /** Of a type that has no meaning here. */
  | { readonly kind: 'other' };

/** Longest text that may be a start: a frame may have megabytes, which would hold up every other call. */
export const MAX_START_CHARACTERS = 64 * 1024;

/** Reads a text frame. Total: what is no JSON is another frame, and so is what is longer than a start may be. */
export function readTextFrame(text: string): TextFrame {
  if (text.length > MAX_START_CHARACTERS) return { kind: 'other' };
  const frame = parsed(text);
  if (!isRecord(frame) || frame.type !== 'start') return { kind: 'other' };
  const fields = Object.fromEntries(Object.entries(frame).filter(([, value]) => value !== null));
  const fault = firstIssue(checker, fields);
  if (fault !== undefined) return { kind: 'wrong_start', message: `'${fault.field}' ${fault.problem}.` };
  const { sampleRate, channels, language } = fields as Static<typeof StartSchema>;
  return {
    kind: 'start',
    audio: {
      rateHz: sampleRate ?? USUAL_AUDIO.rateHz,
      channels: channels ?? USUAL_AUDIO.channels,
      language: typeof language === 'string' ? language : undefined,
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
