/** Responses of a language model to a JSON Schema, validated by ajv. */

import { isIP } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonSchema, TextEngine } from '../../../src/contract/engines/text.ts';
import { collectResponse } from './text-responses.ts';

const isDate = (text: string) => !Number.isNaN(Date.parse(text));
/** Format checks that are independent of the grammar, with functions of the platform where possible. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDate(text),
  time: (text) => isDate(`2020-01-01T${text}`),
  'date-time': (text) => text.includes('T') && isDate(text),
  duration: (text) => /^P(?=.)(\d+[YMWD])*(T(?=.)(\d+[HMS])+)?$/.test(text),
  email: (text) => /^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$/.test(text),
  hostname: (text) => URL.canParse(`http://${text}`) && /^[a-z0-9.-]+$/i.test(text),
  ipv4: (text) => isIP(text) === 4,
  ipv6: (text) => isIP(text) === 6,
  uuid: (text) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text),
  uri: (text) => URL.canParse(text),
};

const ajv = new Ajv2020({ strict: false, formats: { ...FORMATS } });

/** A finished response. */
export interface SchemaResponse {
  readonly text: string;
  readonly tokens: number;
  /** Whether the output was cut off by the token limit. */
  readonly cut: boolean;
  /** Reason why the response is invalid; absent if it is valid. */
  readonly error?: string;
}

/** Requests a value of a schema without a token limit. The frequency penalty prevents endless repetitions of a small model. */
export async function schemaResponse(
  engine: TextEngine,
  schema: JsonSchema,
  seed: number,
  owner: string,
): Promise<SchemaResponse> {
  const { text, end } = await collectResponse(engine, {
    messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Answer with a short JSON value.' }] }],
    output: { kind: 'json_schema', name: 'value', schema, strict: true },
    sampling: { temperature: 0.7, frequencyPenalty: 1, seed },
    maxTokens: undefined,
    fairnessKey: owner,
  });
  const error = errorOf(schema, text);
  const cut = end.reason === 'length';
  return { text, tokens: end.tokens.output, cut, ...(error !== undefined && { error }) };
}

function errorOf(schema: JsonSchema, text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'not JSON';
  }
  return ajv.validate(schema, value) ? undefined : ajv.errorsText();
}
