import type { TSchema } from '@sinclair/typebox';
import { expect, test } from 'vitest';
import { initialSession, mergeSession, type SessionRules } from '../session/session.ts';
import { SessionUpdateSchema } from './session-update.ts';

/** Compares the documented session update with the behaviour of the session. */

const rules: SessionRules = {
  sttModels: ['svc-stt'],
  ttsModels: ['svc-tts'],
  defaultSttModel: 'svc-stt',
  defaultTtsModel: 'svc-tts',
  languagesOf: () => ['en', 'de'],
};

interface Field {
  /** Names, starting below `session`. */
  readonly path: readonly string[];
  readonly schema: TSchema;
}

/** A field and all nested fields; null is ignored. */
function within(path: readonly string[], schema: TSchema): Field[] {
  const inner: TSchema = schema.anyOf?.find(({ type }: TSchema) => type === 'object') ?? schema;
  const own = Object.entries<TSchema>(inner.properties ?? {});
  return [{ path, schema: inner }, ...own.flatMap(([name, field]) => within([...path, name], field))];
}

const fields = within([], SessionUpdateSchema);
const isObject = ({ schema }: Field) => schema.type === 'object';

/** The errors of an update with one value. */
function errorsOf(path: readonly string[], value: unknown) {
  const update = path.reduceRight<unknown>(
    // The field that the others require.
    (inner, name) => ({
      [name]: name === 'turn_detection' ? { type: 'server_vad', ...Object(inner) } : inner,
    }),
    value,
  );
  const session = initialSession('sess_1', rules, new URLSearchParams());
  return mergeSession(session, update, rules, 'found').errors;
}

test.each(fields.filter(isObject))('$path lists the supported fields', ({ path, schema }) => {
  const [error, ...more] = errorsOf([...path, 'unknown_to_all'], 1);
  expect(more).toEqual([]);
  const [, read = ''] = /allowed: (.+)\.$/.exec(error?.message ?? '') ?? [];
  expect(Object.keys(schema.properties).sort()).toEqual(read.split(', ').sort());
});

/** Valid values of a schema, up to its limits, and invalid ones. */
function valuesOf(schema: TSchema): { good: unknown[]; bad: unknown[] } {
  const { anyOf, const: fixed, type, minimum, maximum, maxLength, examples } = schema;
  if (type === 'null') return { good: [null], bad: [{}] };
  if (fixed !== undefined) return { good: [fixed], bad: [`${fixed}x`, 1] };
  if (anyOf !== undefined) {
    const values = (anyOf as TSchema[]).map(valuesOf);
    return { good: values.flatMap(({ good }) => good), bad: values.flatMap(({ bad }) => bad) };
  }
  if (type === 'array') {
    const { good, bad } = valuesOf(schema.items);
    const repeated = schema.uniqueItems ? [[...good, ...good]] : [];
    return { good: [[], good], bad: [bad, ...repeated, 'audio'] };
  }
  if (minimum !== undefined) return { good: [minimum, maximum], bad: [minimum - 1, maximum + 1, '1'] };
  if (maxLength !== undefined) return { good: ['x'.repeat(maxLength)], bad: ['x'.repeat(maxLength + 1), 1] };
  return { good: examples, bad: [1] };
}

test.each(fields.filter((field) => !isObject(field)))(
  '$path accepts the documented values',
  ({ path, schema }) => {
    const { good, bad } = valuesOf(schema);
    expect(good.length).toBeGreaterThan(0);
    for (const value of good) expect(errorsOf(path, value), JSON.stringify(value)).toEqual([]);
    const param = ['session', ...path].join('.');
    for (const value of bad) {
      const told = errorsOf(path, value).map((error) => error.param);
      expect(told.length, JSON.stringify(value)).toBe(1);
      expect(told[0]).toMatch(param);
    }
  },
);
