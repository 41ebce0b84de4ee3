import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { inDeepTier, repetitions } from '../../../test/harness/tier.ts';
import { Grammar } from './grammar.ts';
import { schemaRule } from './schema-grammar.ts';
import { UnsupportedSchemaError } from './schema-values.ts';

/**
 * Maximum cost of a schema on the server thread, as a multiple of an ordinary one. Measured: up to 9. The ratio does not
 * depend on the speed and the load of the machine.
 */
const MAX_RATIO = 25;

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
const members = (count: number, schema: unknown = true) =>
  Object.fromEntries(numbers(count).map((i) => [`p${i}`, schema]));
/** References to one definition. */
const referencesTo = (name: string, count: number, base: object = {}) =>
  numbers(count).map(() => ({ $ref: `#/$defs/${name}`, ...base }));
/** References to `a` and `b` in alternation. */
const alternating = (count: number) =>
  numbers(count).map((i) => ({ $ref: `#/$defs/${i % 2 === 0 ? 'a' : 'b'}` }));
const ideographs = (count: number) => String.fromCharCode(...numbers(count).map((i) => 0x4e00 + 2 * i));

/** Schemas with a high cost for their size. The parameter grows the schema. */
const EXPENSIVE_SCHEMAS: Readonly<Record<string, (n: number) => object>> = {
  'oneOf whose schemas are compared pairwise': (n) => ({
    oneOf: numbers(n).map((i) => ({ required: ['a', 'k'], properties: { a: {}, k: { const: `${i}` } } })),
  }),
  'oneOf without a distinguishing member': (n) => ({
    oneOf: numbers(n).map((i) => ({ properties: { k: { const: i } } })),
  }),
  'large enums in oneOf': (n) => ({
    oneOf: numbers(100).map((choice) => ({ enum: numbers(n).map((i) => choice * 10_000 + i) })),
  }),
  'oneOf that differs in deeply nested members': (n) => ({
    oneOf: numbers(n).map((i) => {
      let schema: object = { const: i };
      for (let depth = 0; depth < 10; depth += 1) schema = { required: ['a'], properties: { a: schema } };
      return schema;
    }),
  }),
  'allOf with repeated references to large properties': (n) => ({
    $defs: { a: { properties: members(n, { type: 'string' }) } },
    allOf: referencesTo('a', 256),
  }),
  'allOf that alternates between two sets of properties': (n) => ({
    $defs: { a: { properties: members(n) }, b: { properties: members(n, {}) } },
    allOf: alternating(256),
  }),
  'allOf that alternates between two enums': (n) => ({
    $defs: { a: { enum: numbers(n) }, b: { enum: numbers(n).toReversed() } },
    allOf: alternating(256),
  }),
  'allOf that alternates between two lists of types': (n) => ({
    $defs: {
      a: { type: numbers(n).map(() => 'string') },
      b: { type: numbers(n + 1).map(() => 'string') },
    },
    allOf: alternating(256),
  }),
  'nested allOf': (n) => ({
    $defs: Object.fromEntries(
      numbers(25).map((i) => [
        `d${i}`,
        i === 0 ? { properties: members(n) } : { allOf: referencesTo(`d${i - 1}`, 2) },
      ]),
    ),
    $ref: '#/$defs/d24',
  }),
  'closed object merged with a large object': (n) => ({
    allOf: [{ properties: members(n), additionalProperties: false }, { properties: members(n) }],
  }),
  'repeated references to many keywords': (n) => ({
    $defs: { a: members(n, 1) },
    prefixItems: referencesTo('a', 1500, { minLength: 0 }),
  }),
  'references through a long array': (n) => ({
    $defs: { a: numbers(n).map(() => true) },
    prefixItems: referencesTo('a/0', 1500, { minLength: 0 }),
  }),
  'reference with a long path': (n) => ({
    $defs: { a: { $ref: `#${'/a'.repeat(n)}` } },
    prefixItems: referencesTo('a', 1500, { minLength: 0 }),
  }),
  'repeated references to a long tuple': (n) => ({
    $defs: { a: { prefixItems: numbers(n).map(() => ({})) } },
    prefixItems: referencesTo('a', 1500, { minItems: 0 }),
  }),
  'long patterns': (n) => ({
    prefixItems: numbers(n).map((i) => ({ pattern: `${'ab?'.repeat(330)}${i}` })),
  }),
  'patterns with large classes': (n) => ({
    prefixItems: numbers(n).map((i) => ({ pattern: `[^${ideographs(900)}]${i}` })),
  }),
  'patterns with nested groups': (n) => ({
    prefixItems: numbers(n).map((i) => ({ pattern: `${'('.repeat(400)}a${')'.repeat(400)}${i}` })),
  }),
  'numbers with many digits': (n) => ({
    prefixItems: numbers(n).map((i) => ({ minimum: -1.123456789 - i, maximum: 999999.987654321 + i })),
  }),
  'patterns with limits of the length': (n) => ({
    prefixItems: numbers(n).map((i) => ({
      type: 'string',
      pattern: `^(a|b)*a(a|b){${i % 9}}${i}$`,
      maxLength: 200,
    })),
  }),
  'a pattern with exponentially many states': (n) => ({
    prefixItems: numbers(n).map((i) => ({ pattern: `(a|b)*a(a|b){${1 + (i % 30)}}${i}`, maxLength: 999 })),
  }),
  'patterns that each text must match': (n) => ({
    prefixItems: numbers(n).map((i) => ({
      allOf: [{ pattern: `[a-f]{9}${i}` }, { pattern: `[d-k]{9}${i}` }, { not: { pattern: `x{9}${i}` } }],
    })),
  }),
  'patterns of names with many properties': (n) => ({
    prefixItems: numbers(n / 20).map((i) => ({
      properties: members(20),
      patternProperties: { [`^p[0-9]*${i}`]: {}, '^q.*r': {}, 's.*t$': {} },
      additionalProperties: { const: i },
    })),
  }),
  'closed and open objects with many properties': (n) => ({
    prefixItems: numbers(n / 40).map((i) => ({
      properties: members(40, { const: i }),
      additionalProperties: true,
    })),
  }),
  'dependencies that multiply': (n) => ({
    type: 'object',
    properties: members(n),
    dependentRequired: Object.fromEntries(numbers(n).map((i) => [`p${i}`, [`p${(i * 7) % n}`]])),
  }),
  'conditions that multiply': (n) => ({
    type: 'object',
    properties: members(n, { enum: [1, 2] }),
    allOf: numbers(Math.min(n, 250)).map((i) =>
      Object.fromEntries([
        ['if', { properties: { [`p${i}`]: { const: 1 } } }],
        ['then', { required: [`p${(i + 1) % n}`] }],
      ]),
    ),
  }),
  'oneOf that requires complements': (n) => ({
    oneOf: numbers(n).map((i) => ({
      type: 'object',
      properties: members(5, { minimum: i }),
      required: [`p${i % 5}`],
    })),
  }),
  'negations of large objects': (n) => ({
    allOf: [
      { not: { properties: members(n, { type: 'string' }) } },
      { not: { required: Object.keys(members(n)) } },
    ],
  }),
  'limits of the number of members': (n) => ({
    type: 'object',
    properties: members(n),
    minProperties: Math.floor(n / 3),
    maxProperties: Math.floor(n / 2),
  }),
  'objects that differ in their required members': (n) => ({
    anyOf: numbers(n / 10).map((i) => ({
      type: 'object',
      properties: members(10),
      required: numbers(10).flatMap((each) => (i & (1 << each) ? [`p${each}`] : [])),
    })),
  }),
  'anyOf that starts with many alternatives': (n) => ({
    $defs: {
      a: { anyOf: numbers(450).map((i) => ({ $ref: `#/$defs/p${i}` })) },
      ...members(450, { type: 'null' }),
      ...Object.fromEntries(numbers(n).map((i) => [`w${i}`, { $ref: '#/$defs/a' }])),
    },
    prefixItems: numbers(n).map((i) => ({ $ref: `#/$defs/w${i}` })),
  }),
};

/** An ordinary schema, of 26,000 characters. */
const ORDINARY_SCHEMA = {
  prefixItems: numbers(100).map((i) => ({
    type: 'object',
    properties: {
      id: { type: 'integer', minimum: i },
      name: { type: 'string', maxLength: 100 + i },
      kind: { enum: ['a', 'b', 'c', `k${i}`] },
      tags: { type: 'array', items: { type: 'string' }, maxItems: 5 },
    },
    required: ['id', 'name'],
    additionalProperties: false,
  })),
};

function convert(schema: object): void {
  const grammar = new Grammar(2048);
  grammar.text(schemaRule(grammar, schema as Record<string, unknown>));
}

/** Converts a schema that may be rejected. */
function tryConvert(schema: object): void {
  try {
    convert(schema);
  } catch (error) {
    if (!(error instanceof UnsupportedSchemaError)) throw error;
  }
}

/** Whether the product accepts the length of a schema. An unused definition counts, but is not converted. */
function isShortEnough(schema: object): boolean {
  try {
    convert({ type: 'null', $defs: { schema } });
    return true;
  } catch (error) {
    expect((error as Error).message).toContain('characters');
    return false;
  }
}

/** The largest schema of a kind whose length is accepted. */
function largest(make: (n: number) => object): object {
  let [accepted, rejected] = [1, 2];
  while (isShortEnough(make(rejected))) [accepted, rejected] = [rejected, 2 * rejected];
  while (rejected - accepted > 1) {
    const n = Math.floor((accepted + rejected) / 2);
    if (isShortEnough(make(n))) accepted = n;
    else rejected = n;
  }
  return make(accepted);
}

/**
 * CPU time of a conversion on this thread, in ms: the mean of as many conversions as take a multiple of the resolution of the
 * clock, which is up to 10 ms.
 */
function costMs(schema: object): number {
  const start = process.threadCpuUsage();
  let conversions = 0;
  let totalMs = 0;
  while (totalMs < 200) {
    tryConvert(schema);
    conversions += 1;
    const { user, system } = process.threadCpuUsage();
    totalMs = (user - start.user + system - start.system) / 1000;
  }
  return totalMs / conversions;
}

const kinds = fc.constantFrom(...Object.values(EXPENSIVE_SCHEMAS));
/** The largest schema that combines several expensive kinds. */
const combined = fc
  .tuple(fc.array(kinds, { minLength: 2, maxLength: 6 }), fc.boolean())
  .map(([makes, all]) => {
    const parts = (n: number) => makes.map((make) => make(n) as Record<string, object>);
    return largest((n) => ({
      $defs: Object.assign({}, ...parts(n).map(({ $defs }) => $defs)),
      [all ? 'allOf' : 'prefixItems']: parts(n).map(({ $defs, ...rest }) => rest),
    }));
  });

it('accepts the ordinary schema', () => {
  expect(() => convert(ORDINARY_SCHEMA)).not.toThrow();
});

it.each(Object.keys(EXPENSIVE_SCHEMAS))('converts or rejects a large schema: %s', (kind) => {
  tryConvert(largest(EXPENSIVE_SCHEMAS[kind] ?? Object));
});

it('converts or rejects a schema that combines several expensive kinds', () => {
  fc.assert(fc.property(combined, tryConvert), { numRuns: repetitions(5, 20) });
});

inDeepTier(() => {
  let ordinaryMs: number;
  beforeAll(() => {
    // The first conversions run before the compiler has optimized the code.
    costMs(ORDINARY_SCHEMA);
    ordinaryMs = costMs(ORDINARY_SCHEMA);
  });

  it.each(Object.keys(EXPENSIVE_SCHEMAS))('limits the cost of a schema: %s', (kind) => {
    const schema = largest(EXPENSIVE_SCHEMAS[kind] ?? Object);
    expect(costMs(schema) / ordinaryMs).toBeLessThan(MAX_RATIO);
  });

  it('limits the cost of a schema that combines several expensive kinds', () => {
    const isCheap = fc.property(combined, (schema) => {
      expect(costMs(schema) / ordinaryMs).toBeLessThan(MAX_RATIO);
    });
    fc.assert(isCheap, { numRuns: 5 });
  });
});

it('applies one work limit to all schemas of a request', () => {
  const grammar = new Grammar(2048);
  const schema = { prefixItems: numbers(1000).map(() => ({ type: 'null' })) };
  const read = () => schemaRule(grammar, schema);
  read();
  expect(() => {
    for (const _ of numbers(20)) read();
  }).toThrow('the schema is too complex');
});
