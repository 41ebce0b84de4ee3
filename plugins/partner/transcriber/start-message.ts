/** Text frames of the platform, which describe the format of its audio (reference A.1). */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { MAX_RATE_HZ, MIN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { oneOf } from '../../../src/kit/validation/type-errors.ts';
import { firstIssue } from '../../../src/kit/validation/value-errors.ts';

/** Validates start messages and documents them in AsyncAPI. Unknown fields are ignored. */
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
      description: 'Samples per second and channel.',
    }),
  ),
  channels: Type.Optional(
    Type.Union([Type.Literal(1), Type.Literal(2)], {
      default: 2,
      description: 'With two channels, the first is the customer; the second, the assistant, is dropped.',
    }),
  ),
  language: Type.Optional(
    Type.Unknown({
      description: 'ISO 639-1 code of the spoken language: a hint. Ignored unless it is a string.',
    }),
  ),
});
const checker = TypeCompiler.Compile(StartSchema);

/** Audio format of a call: signed 16-bit little-endian samples, interleaved. */
export interface CallAudio {
  readonly rateHz: number;
  readonly channels: 1 | 2;
  /** The language of the platform; the model may not support it. */
  readonly language: string | undefined;
}

/** Defaults of omitted fields and of calls without a start message. */
export const DEFAULT_AUDIO: CallAudio = { rateHz: 16_000, channels: 2, language: undefined };

export type TextFrame =
  | { readonly kind: 'start'; readonly audio: CallAudio }
  /** An invalid start message. The message names the field and the allowed values. */
  | { readonly kind: 'invalid_start'; readonly message: string }
  /** Any other message. Ignored. */
  | { readonly kind: 'other' };

/** Maximum length of a start message. Parsing frames of several MB would block other calls. */
export const MAX_START_CHARACTERS = 64 * 1024;

/** Parses a text frame. Total: a frame that is not JSON or too long has kind `other`. */
export function readTextFrame(text: string): TextFrame {
  if (text.length > MAX_START_CHARACTERS) return { kind: 'other' };
  const frame = parseJson(text);
  if (!isRecord(frame) || frame.type !== 'start') return { kind: 'other' };
  const fields = Object.fromEntries(Object.entries(frame).filter(([, value]) => value !== null));
  const issue = firstIssue(checker, fields);
  if (issue !== undefined) return { kind: 'invalid_start', message: `'${issue.field}' ${issue.problem}.` };
  const { sampleRate, channels, language } = fields as Static<typeof StartSchema>;
  return {
    kind: 'start',
    audio: {
      rateHz: sampleRate ?? DEFAULT_AUDIO.rateHz,
      channels: channels ?? DEFAULT_AUDIO.channels,
      language: typeof language === 'string' ? language : undefined,
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
