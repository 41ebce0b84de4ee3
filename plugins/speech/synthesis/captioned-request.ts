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
 * @throws ServiceError `invalid_request` if `stream` or `return_timestamps` is not a boolean.
 */
export function captionedFields(body: object | null): {
  readonly fields: object;
  readonly isStreamed: boolean;
} {
  const given = new Map<string, unknown>(Object.entries(body ?? {}));
  const isStreamed = flag(given, 'stream');
  const hasWords = flag(given, 'return_timestamps');
  const language = LANGUAGES[String(given.get('lang_code'))];
  const fields = {
    ...body,
    model: given.get('model') ?? DEFAULT_MODEL,
    stream_format: 'json',
    ...(hasWords && { timestamps: ['word'] }),
    ...(language !== undefined && { language }),
  };
  return { fields, isStreamed };
}

/** The value of a boolean field that is true by default. */
function flag(fields: ReadonlyMap<string, unknown>, name: string): boolean {
  const value = fields.get(name) ?? true;
  if (typeof value === 'boolean') return value;
  throw invalidRequest(`'${name}' must be true or false.`, name, 'invalid_type');
}

/** The OpenAPI schema of a body. */
export function captionedBodySchema(maxCharacters: number) {
  const { input, voice, response_format, speed } = speechFormSchema(maxCharacters).properties;
  return Type.Object({
    model: Type.Optional(Type.String({ default: DEFAULT_MODEL })),
    input,
    voice,
    response_format: Type.Optional(response_format),
    speed,
    stream: Type.Optional(Type.Boolean({ default: true, description: 'Lines of JSON, or one object.' })),
    return_timestamps: Type.Optional(Type.Boolean({ default: true })),
  });
}
