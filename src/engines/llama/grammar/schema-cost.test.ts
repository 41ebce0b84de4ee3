import fc from 'fast-check';
import { expect, it } from 'vitest';
import { repetitions } from '../../../../test/harness/tier.ts';
import { ServiceError } from '../../../contract/core/error.ts';
import { Grammar } from './grammar.ts';
import { schemaRule } from './schema-grammar.ts';

/** Longest that a schema may hold the serving thread, and what schemas are tried with: just below the limit. */
const MAX_MS = 50;
const CHARACTERS = 119_900;

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const members = (count: number, schema: unknown = true) =>
  Object.fromEntries(numbers(count).map((i) => [`p${i}`, schema]));
/** Other references to the same. */
const again = (name: string, count: number, base: object = {}) =>
  numbers(count).map(() => ({ $ref: `#/$defs/${name}`, ...base }));
const inTurn = (count: number) => numbers(count).map((i) => ({ $ref: `#/$defs/${i % 2 === 0 ? 'a' : 'b'}` }));
const ideographs = (count: number) => String.fromCharCode(...numbers(count).map((i) => 0x4e00 + 2 * i));

/** Schemas that are as costly as their size lets them be. @param n grows the schema. */
const HOSTILE: Readonly<Record<string, (n: number) => object>> = {
  'choices of which each is compared with each': (n) => ({
    oneOf: numbers(n).map((i) => ({ required: ['a', 'k'], properties: { a: {}, k: { const: `${i}` } } })),
  }),
  'choices that nothing tells apart': (n) => ({
    oneOf: numbers(n).map((i) => ({ properties: { k: { const: i } } })),
  }),
  'large enums in choices': (n) => ({
    oneOf: numbers(100).map((choice) => ({ enum: numbers(n).map((i) => choice * 10_000 + i) })),
  }),
  'choices that differ deep inside': (n) => ({
    oneOf: numbers(n).map((i) => {
      let schema: object = { const: i };
      for (let depth = 0; depth < 10; depth += 1) schema = { required: ['a'], properties: { a: schema } };
      return schema;
    }),
  }),
  'the same members again and again': (n) => ({
    $defs: { a: { properties: members(n, { type: 'string' }) } },
    allOf: again('a', 256),
  }),
  'two lists of members in turn': (n) => ({
    $defs: { a: { properties: members(n) }, b: { properties: members(n, {}) } },
    allOf: inTurn(256),
  }),
  'two enums in turn': (n) => ({
    $defs: { a: { enum: numbers(n) }, b: { enum: numbers(n).toReversed() } },
    allOf: inTurn(256),
  }),
  'two lists of types in turn': (n) => ({
    $defs: {
      a: { type: numbers(n).map(() => 'string') },
      b: { type: numbers(n + 1).map(() => 'string') },
    },
    allOf: inTurn(256),
  }),
  'all of all of all': (n) => ({
    $defs: Object.fromEntries(
      numbers(25).map((i) => [
        `d${i}`,
        i === 0 ? { properties: members(n) } : { allOf: again(`d${i - 1}`, 2) },
      ]),
    ),
    $ref: '#/$defs/d24',
  }),
  'a closed object combined with as large a one': (n) => ({
    allOf: [{ properties: members(n), additionalProperties: false }, { properties: members(n) }],
  }),
  'many keywords that are read again': (n) => ({
    $defs: { a: members(n, 1) },
    prefixItems: again('a', 1500, { minLength: 0 }),
  }),
  'references through a long list': (n) => ({
    $defs: { a: numbers(n).map(() => true) },
    prefixItems: again('a/0', 1500, { minLength: 0 }),
  }),
  'a reference of very many steps': (n) => ({
    $defs: { a: { $ref: `#${'/a'.repeat(n)}` } },
    prefixItems: again('a', 1500, { minLength: 0 }),
  }),
  'a long tuple again and again': (n) => ({
    $defs: { a: { prefixItems: numbers(n).map(() => ({})) } },
    prefixItems: again('a', 1500, { minItems: 0 }),
  }),
  'long patterns': (n) => ({
    prefixItems: numbers(n).map((i) => ({ pattern: `${'ab?'.repeat(330)}${i}` })),
  }),
  'patterns with large classes': (n) => ({
    prefixItems: numbers(n).map((i) => ({ pattern: `[^${ideographs(900)}]${i}` })),
  }),
  'groups in groups': (n) => ({
    prefixItems: numbers(n).map((i) => ({ pattern: `${'('.repeat(400)}a${')'.repeat(400)}${i}` })),
  }),
  'numbers with many digits': (n) => ({
    prefixItems: numbers(n).map((i) => ({ minimum: -1.123456789 - i, maximum: 999999.987654321 + i })),
  }),
  'choices that begin with all others': (n) => ({
    $defs: {
      a: { anyOf: numbers(450).map((i) => ({ $ref: `#/$defs/p${i}` })) },
      ...members(450, { type: 'null' }),
      ...Object.fromEntries(numbers(n).map((i) => [`w${i}`, { $ref: '#/$defs/a' }])),
    },
    prefixItems: numbers(n).map((i) => ({ $ref: `#/$defs/w${i}` })),
  }),
};

/** The largest of a kind that is short enough to be read. */
function largest(make: (n: number) => object): object {
  let [least, most] = [1, CHARACTERS / 2];
  while (least < most) {
    const n = Math.ceil((least + most) / 2);
    if (JSON.stringify(make(n)).length <= CHARACTERS) least = n;
    else most = n - 1;
  }
  return make(least);
}

/** Time that this thread has worked, in ms: what the machine does besides is not the schema's. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Time of the quickest of some tries. */
function costMs(schema: object): number {
  const tries = numbers(5).map(() => {
    const begin = workedMs();
    try {
      const grammar = new Grammar(2048);
      grammar.text(schemaRule(grammar, schema as Record<string, unknown>, 'schema'));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
    return workedMs() - begin;
  });
  return Math.min(...tries);
}

it.each(Object.keys(HOSTILE))('does not cost the serving thread much: %s', (kind) => {
  expect(costMs(largest(HOSTILE[kind] ?? Object))).toBeLessThan(MAX_MS);
});

it('nor do several kinds of cost in one schema', () => {
  const kind = fc.constantFrom(...Object.values(HOSTILE));
  fc.assert(
    fc.property(fc.array(kind, { minLength: 2, maxLength: 6 }), fc.boolean(), (kinds, all) => {
      const parts = (n: number) => kinds.map((make) => make(n) as Record<string, object>);
      const schema = largest((n) => ({
        $defs: Object.assign({}, ...parts(n).map(({ $defs }) => $defs)),
        [all ? 'allOf' : 'prefixItems']: parts(n).map(({ $defs, ...rest }) => rest),
      }));
      expect(costMs(schema)).toBeLessThan(MAX_MS);
    }),
    { numRuns: repetitions(2, 5) },
  );
});

it('several schemas of one request share what may be looked at', () => {
  const grammar = new Grammar(2048);
  const schema = { prefixItems: numbers(1000).map(() => ({ type: 'null' })) };
  const read = () => schemaRule(grammar, schema, 'tools');
  read();
  expect(() => {
    for (const _ of numbers(20)) read();
  }).toThrow('the schema is too complex');
});
