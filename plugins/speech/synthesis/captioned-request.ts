/** The body of POST /dev/captioned_speech, as Kokoro-FastAPI defines it. */

import { Type } from '@sinclair/typebox';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import { speechFormSchema } from './schema.ts';

/** Kokoro-FastAPI's default. */
const DEFAULT_MODEL = 'kokoro';

/** Kokoro's codes of languages. */
const LANGUAGES: Readonly<Record<string, string>> = {
  a: 'en-US',
  b: 'en-GB',
  e: 'es',
  f: 'fr',
  h: 'hi',
  i: 'it',
  p: 'pt-BR',
  j: 'ja',
  z: 'zh',
};

/**
 * Converts a body to that of POST /v1/audio/speech. Further fields of Kokoro-FastAPI, such as `normalization_options`, are ignored.
 * @throws ServiceError `invalid_request` if `stream` is not a boolean.
 */
export function captionedFields(body: object | null): {
  readonly fields: object;
  readonly isStreamed: boolean;
} {
  const given = new Map<string, unknown>(Object.entries(body ?? {}));
  const isStreamed = given.get('stream') ?? true;
  if (typeof isStreamed !== 'boolean') {
    throw invalidRequest("'stream' must be true or false.", 'stream', 'invalid_type');
  }
  const hasWords = given.get('return_timestamps') !== false;
  const language = LANGUAGES[String(given.get('lang_code'))];
  const fields = {
    model: DEFAULT_MODEL,
    ...body,
    stream_format: 'json',
    ...(hasWords && { timestamps: ['word'] }),
    ...(language !== undefined && { language }),
  };
  return { fields, isStreamed };
}

/** The OpenAPI schema of a body. */
export function captionedBodySchema(maxCharacters: number) {
  const { input, voice, response_format, speed } = speechFormSchema(maxCharacters).properties;
  return Type.Object({
    model: Type.Optional(Type.String({ default: DEFAULT_MODEL })),
    input,
    voice,
    response_format,
    speed,
    stream: Type.Optional(Type.Boolean({ default: true, description: 'Lines of JSON, or one object.' })),
    return_timestamps: Type.Optional(Type.Boolean({ default: true })),
  });
}
