/** What a language model answers to a JSON Schema, and whether that holds to it by the judgement of ajv. */

import { isIP } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonSchema, TextEngine } from '../../../src/contract/engines/text.ts';
import { collectResponse } from './text-responses.ts';

const isDate = (text: string) => !Number.isNaN(Date.parse(text));
/** By the platform where it knows them, so that the grammar of formats does not judge itself. */
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

/** An answer that ended. @property fault why it does not hold to the schema; absent when it does. */
export interface SchemaAnswer {
  readonly text: string;
  readonly tokens: number;
  /** Whether the output was cut off by the token limit. */
  readonly cut: boolean;
  readonly fault?: string;
}

/**
 * Asks a model for a value of a schema, without a limit of its tokens. What was said often is said less likely, so
 * that a small model comes to an end by itself.
 */
export async function schemaAnswer(
  engine: TextEngine,
  schema: JsonSchema,
  seed: number,
  owner: string,
): Promise<SchemaAnswer> {
  const { text, end } = await collectResponse(engine, {
    messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Answer with a short JSON value.' }] }],
    output: { kind: 'json_schema', name: 'value', schema, strict: true },
    sampling: { temperature: 0.7, frequencyPenalty: 1, seed },
    maxTokens: undefined,
    fairnessKey: owner,
  });
  const fault = faultOf(schema, text);
  const cut = end.reason === 'length';
  return { text, tokens: end.tokens.output, cut, ...(fault !== undefined && { fault }) };
}

function faultOf(schema: JsonSchema, text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is no JSON';
  }
  return ajv.validate(schema, value) ? undefined : ajv.errorsText();
}
