/** Formats of POST /v1/audio/speech: those of the specification, and those of OpenAI's API for models with its compatibility. */

import { invalidRequest, type ServiceError } from '../../../src/contract/core/error.ts';
import { ENCODED_FORMATS, type EncodedFormat } from '../../../src/contract/engines/audio-encoder.ts';
import type { TtsEngine } from '../../../src/contract/engines/engine.ts';
import type { ModelTable } from '../../../src/contract/model-table.ts';

/** In the order of OpenAI's documentation. */
export const FORMATS = [...ENCODED_FORMATS, 'wav', 'pcm'] as const;
export type SpeechFormat = (typeof FORMATS)[number];

export const CONTENT_TYPES: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  // RFC 7845, 9. `audio/opus` is a stream of packets without a container (RFC 7587).
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

interface FormatRules {
  readonly formats: readonly SpeechFormat[];
  readonly byDefault: SpeechFormat;
  /** Whether `wav` is sent while it grows. The specification has it sent when it is complete, with its length (4.3). */
  readonly streamsWav: boolean;
}

const SPECIFIED: FormatRules = { formats: ['wav', 'pcm'], byDefault: 'wav', streamsWav: false };
const OPENAI: FormatRules = { formats: FORMATS, byDefault: 'mp3', streamsWav: true };

/** The rules of a model. */
export function formatRulesOf({ compatibility }: Pick<TtsEngine, 'compatibility'>): FormatRules {
  return compatibility === 'openai' ? OPENAI : SPECIFIED;
}

export function isEncoded(format: SpeechFormat): format is EncodedFormat {
  return format !== 'wav' && format !== 'pcm';
}

/** The format of that name, if the rules allow it. */
export function formatNamed(name: string, { formats }: FormatRules): SpeechFormat | undefined {
  return formats.find((format) => format === name);
}

/**
 * The error of a format that is unknown, or that the model does not have.
 * @param model the model of the request; undefined if it does not exist.
 * @param models all models, to name those with more formats.
 */
export function unsupportedFormat(model: TtsEngine | undefined, models: ModelTable<TtsEngine>): ServiceError {
  const { formats } = model === undefined ? OPENAI : formatRulesOf(model);
  const message = `'response_format' must be one of ${quoted(formats)}.`;
  const others = FORMATS.filter((format) => !formats.includes(format));
  const compatible = models.ids.filter((id) => models.get(id)?.compatibility === 'openai');
  const hint =
    others.length === 0 || compatible.length === 0
      ? ''
      : ` Models that also accept ${quoted(others)}: ${compatible.join(', ')}.`;
  return invalidRequest(`${message}${hint}`, 'response_format', 'unsupported_value');
}

function quoted(formats: readonly SpeechFormat[]): string {
  return formats.map((format) => `"${format}"`).join(', ');
}
