import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GbnfSampler } from '../../../../test/generators/gbnf-sampler.ts';
import { followableSchema } from '../../../../test/generators/json-schemas.ts';
import { generatedSchemas } from '../../../../tools/harness/models/generated-schemas.ts';
import type { JsonSchema } from '../../../contract/engines/text.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { Grammar } from './grammar.ts';
import { schemaRule } from './schema-grammar.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Random strings of the grammar of a schema. */
function samples(schema: JsonSchema | boolean, count = 8, seed = 1): string[] {
  const grammar = new Grammar(100);
  const sampler = new GbnfSampler(grammar.text(schemaRule(grammar, schema, 'schema')));
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => sampler.sample(random));
}

it('generates only values that are valid against the schema', () => {
  fc.assert(
    fc.property(followableSchema, fc.nat(), (schema, seed) => {
      const valid = ajv.compile(schema);
      for (const text of samples(schema, 8, seed)) {
        const value: unknown = JSON.parse(text);
        if (!valid(value)) throw new Error(`${text} is not valid against ${JSON.stringify(schema)}`);
      }
    }),
    { numRuns: 300 },
  );
});

it('supports all generated library schemas and generates only valid values', () => {
  for (const [seed, schema] of generatedSchemas(200, 1).entries()) {
    for (const text of samples(schema, 4, seed)) {
      const value: unknown = JSON.parse(text);
      if (!ajv.validate(schema, value)) throw new Error(`${text}: ${JSON.stringify(schema)}`);
    }
  }
});

describe('an unsupported schema is rejected with its keyword', () => {
  it.each<[string, JsonSchema | boolean, string]>([
    ['not a schema', { items: 5 } as JsonSchema, 'not a schema (at items)'],
    ['null instead of a schema', { allOf: [null] } as JsonSchema, 'not a schema'],
    [
      'a limit that is not a number',
      { type: 'string', maxLength: '5' },
      "'maxLength' is not a non-negative integer",
    ],
    ['a minimum of items above the limit', { type: 'array', minItems: 1000 }, "'minItems' above 999"],
    [
      'a fractional minimum of items',
      { type: 'array', minItems: 1.5 },
      "'minItems' is not a non-negative integer",
    ],
    [
      'an infinite limit',
      { type: 'number', maximum: Number.POSITIVE_INFINITY },
      "'maximum' is not a finite number",
    ],
    [
      'a boolean exclusiveMinimum of an older draft',
      { type: 'integer', exclusiveMinimum: true },
      "'exclusiveMinimum' is not a finite number",
    ],
    ['a broken reference', { $ref: '#/%' }, "'$ref' to a missing schema"],
    ['not: true', { not: true }, "'not'"],
    ['a long pattern', { pattern: 'a'.repeat(1001) }, 'more than 1000 characters'],
    [
      'many repetitions of patterns',
      { pattern: 'a{0,1500}b{0,1500}'.repeat(20) },
      'the schema is too complex',
    ],
    ['the schema false', false, 'no value is valid'],
    ['not with a schema', { not: { type: 'null' } }, "'not'"],
    ['a nested condition', { properties: { a: { items: { if: {} } } } }, "'if' (at properties/a/items)"],
    ['patternProperties', { patternProperties: { '^x': {} } }, "'patternProperties'"],
    ['uniqueItems', { type: 'array', uniqueItems: true }, "'uniqueItems'"],
    ['an unknown format', { type: 'string', format: 'iri' }, "the format 'iri'"],
    ['an unknown type', { type: 'text' }, "unknown 'type'"],
    ['duplicate types', { type: Array(8).fill('string') }, "duplicate 'type'"],
    ['allOf with too many schemas', { allOf: Array(257).fill({}) }, "'allOf' with more than 256 schemas"],
    ['a reference to an array', { allOf: [{ type: 'null' }], $ref: '#/allOf' }, "'$ref' to a missing schema"],
    [
      'oneOf with equal values',
      { oneOf: [{ const: { a: 1, b: 2 } }, { enum: [{ b: 2, a: 1 }] }] },
      "'oneOf' with schemas",
    ],
    ['a pattern with a lookahead', { pattern: '^(?=a)' }, 'lookahead or lookbehind'],
    [
      'a pattern that repeats an empty match',
      { pattern: '(a*)*' },
      'a repetition of an expression that may be empty',
    ],
    ['a pattern with too many repetitions', { pattern: '^(a{0,50}){50}$' }, 'too many repetitions'],
    ['a pattern with nested repetitions', { pattern: '^((a{1,9}){1,9}){1,9}$' }, 'too many repetitions'],
    ['a pattern and a length', { pattern: 'a', maxLength: 3 }, "more than one of 'format', 'pattern'"],
    ['a reference to a missing definition', { $ref: '#/$defs/none' }, "'$ref' to a missing schema"],
    ['a reference to another document', { $ref: 'https://example.com/x' }, "'$ref' outside the schema"],
    ['a reference to itself', { $ref: '#' }, "'$ref' refers to itself without an intermediate value"],
    [
      'a choice that contains itself',
      { anyOf: [{ $ref: '#' }, { type: 'null' }] },
      "'$ref' refers to itself without an intermediate value",
    ],
    [
      'a definition that contains itself as an alternative',
      {
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } },
      },
      "'$ref' refers to itself without an intermediate value",
    ],
    [
      'definitions that contain each other as alternatives',
      {
        items: { $ref: '#/$defs/a' },
        $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/a' }] } },
      },
      "'$ref' refers to itself without an intermediate value",
    ],
    [
      'allOf that contains itself',
      { allOf: [{ $ref: '#' }, { type: 'null' }] },
      "'$ref' and 'allOf' nested deeper",
    ],
    [
      'oneOf with overlapping types',
      { oneOf: [{ type: 'number' }, { type: 'integer' }] },
      "'oneOf' with schemas",
    ],
    [
      'limits that allow no number',
      { type: 'integer', minimum: 3, maximum: 2 },
      'limits that allow no number',
    ],
    ['multipleOf without limits', { type: 'integer', multipleOf: 7 }, "'multipleOf' without limits"],
    ['enum combined with limits', { enum: [1, 2], minimum: 2 }, "'minimum' combined with 'enum' or 'const'"],
    ['two patterns', { allOf: [{ pattern: 'a' }, { pattern: 'b' }] }, "conflicting values of 'pattern'"],
  ])('%s', (_, schema, what) => {
    expect(() => samples(schema)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', param: 'schema' }),
    );
    expect(() => samples(schema)).toThrow(what);
  });

  it('too many enum values or characters', () => {
    const values = Array.from({ length: 1001 }, (_, i) => `value ${i}`);
    expect(() => samples({ enum: values })).toThrow('more than 1000 enum values');
    expect(samples({ enum: values.slice(1) }, 1)).toHaveLength(1);
    expect(() => samples({ const: 'x'.repeat(400_000) })).toThrow('exceeds 120000 characters');
  });

  it('exponentially many references', () => {
    const $defs: Record<string, JsonSchema> = { d0: { type: 'null' } };
    for (let i = 1; i < 25; i += 1) {
      const $ref = `#/$defs/d${i - 1}`;
      $defs[`d${i}`] = { allOf: [{ $ref }, { $ref }] };
    }
    expect(() => samples({ $defs, $ref: '#/$defs/d24' })).toThrow('the schema is too complex');
    const required = Array.from({ length: 1001 }, (_, i) => `name ${i}`);
    expect(() => samples({ required })).toThrow('more than 1000 enum values');
  });

  it('nested choices that multiply the alternatives at the start of a value', () => {
    const choices = (levels: number): JsonSchema => {
      const $defs: Record<string, JsonSchema> = { a0: { const: 'a' }, b0: { const: 'b' } };
      for (let i = 1; i <= levels; i += 1) {
        const anyOf = ['a', 'b'].map((name) => ({ $ref: `#/$defs/${name}${i - 1}` }));
        Object.assign($defs, { [`a${i}`]: { anyOf }, [`b${i}`]: { anyOf: anyOf.toReversed() } });
      }
      return { required: ['k'], properties: { k: { $ref: `#/$defs/a${levels}` } }, $defs };
    };
    expect(samples(choices(10), 1)).toHaveLength(1);
    expect(() => samples(choices(11))).toThrow('too many alternatives at the start of a value');
    expect(() => samples(choices(25))).toThrow('too many alternatives at the start of a value');
  });

  it('nesting that is too deep', () => {
    let schema: JsonSchema = { type: 'null' };
    for (let depth = 0; depth < 100; depth += 1) schema = { type: 'array', items: schema };
    expect(() => samples(schema)).toThrow('nesting deeper than 64');
  });
});

describe('the grammar of a schema allows', () => {
  /** The distinct strings of 400 samples, which cover a small grammar. */
  const all = (schema: JsonSchema) => new Set(samples(schema, 400));

  it('exactly the integers within narrow limits', () => {
    for (const [minimum, maximum] of [
      [-11, 12],
      [95, 105],
      [-3, -1],
      [0, 0],
      [999, 1001],
    ] as const) {
      const numbers = [...all({ type: 'integer', minimum, maximum })].map(Number);
      const expected = Array.from({ length: maximum - minimum + 1 }, (_, i) => minimum + i);
      expect(numbers.toSorted((a, b) => a - b)).toEqual(expected);
    }
  });

  it('decimals within exclusive limits', () => {
    const texts = all({ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.1 });
    expect(texts.size).toBe(9);
    for (const text of texts) expect(Number(text) > 0 && Number(text) < 0.1).toBe(true);
    expect(all({ type: 'number', multipleOf: 0.1, minimum: 0, maximum: 0.3 })).toEqual(
      new Set(['0', '0.0', '0.1', '0.2', '0.3']),
    );
  });

  it('multiples', () => {
    const texts = all({ type: 'integer', multipleOf: 6, minimum: -7, maximum: 13 });
    expect(texts).toEqual(new Set(['-6', '0', '6', '12']));
  });

  it('members in the order of the schema, with or without optional ones', () => {
    const flag = { const: 1 };
    const schema = { type: 'object', properties: { a: flag, b: flag, c: flag }, required: ['b'] };
    expect(all(schema)).toEqual(
      new Set(['{"b":1}', '{"a":1,"b":1}', '{"b":1,"c":1}', '{"a":1,"b":1,"c":1}']),
    );
  });

  it('required members without properties, and arbitrary names', () => {
    expect(all({ required: ['x'], additionalProperties: { const: 2 } })).toEqual(new Set(['{"x":2}']));
    for (const text of all({ type: 'object', additionalProperties: { const: 2 }, maxProperties: 1 })) {
      expect(Object.values(JSON.parse(text)).every((each) => each === 2)).toBe(true);
    }
  });

  it('tuples with additional items', () => {
    const schema = {
      prefixItems: [{ const: 1 }, { const: 2 }],
      items: { const: 3 },
      minItems: 3,
      maxItems: 4,
    };
    expect(all({ type: 'array', ...schema })).toEqual(new Set(['[1,2,3]', '[1,2,3,3]']));
  });

  it('recursive references through members', () => {
    const schema = {
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      $ref: '#/$defs/node',
    };
    expect(all(schema).has('{"next":{"next":{}}}')).toBe(true);
  });

  it('oneOf distinguished by a constant member', () => {
    const one = (kind: string) => ({
      type: 'object',
      properties: { kind: { const: kind } },
      required: ['kind'],
    });
    expect(all({ oneOf: [one('a'), one('b')] })).toEqual(new Set(['{"kind":"a"}', '{"kind":"b"}']));
  });

  it('oneOf distinguished by a value or by type', () => {
    const values = Array.from({ length: 300 }, (_, i) => ({ const: `${i}` }));
    expect(all({ oneOf: values }).size).toBeGreaterThan(100);
    const types = { oneOf: [{ type: 'null' }, { const: 'a', type: 'string' }, { type: 'boolean' }] };
    expect(all(types)).toEqual(new Set(['null', '"a"', 'true', 'false']));
  });

  it('the intersection of allOf', () => {
    const schema = {
      allOf: [
        { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
        { properties: { n: { maximum: 2 } }, required: ['n'] },
      ],
    };
    expect(all(schema)).toEqual(new Set(['{"n":1}', '{"n":2}']));
  });

  it('choices combined with other constraints', () => {
    const schema = {
      type: 'object',
      properties: { a: { const: 1 }, b: { const: 2 } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    };
    expect(all(schema)).toEqual(new Set(['{"a":1}', '{"b":2}', '{"a":1,"b":2}']));
  });

  it('strings that match a pattern, with JSON escapes', () => {
    expect(all({ type: 'string', pattern: '^(a|"|\\\\|\\n){1}$' })).toEqual(
      new Set(['"a"', '"\\""', '"\\\\"', '"\\n"']),
    );
    for (const text of all({ type: 'string', pattern: 'b[0-9]' })) expect(JSON.parse(text)).toMatch(/b[0-9]/);
  });

  it('strings with a length in characters instead of code units', () => {
    for (const text of all({ type: 'string', minLength: 2, maxLength: 3 })) {
      expect([...JSON.parse(text)].length).toBeGreaterThanOrEqual(2);
      expect([...JSON.parse(text)].length).toBeLessThanOrEqual(3);
    }
  });

  it('rare characters only as escapes', () => {
    expect(all({ const: 'é\u{50000}😀' })).toEqual(new Set(['"é\\ud900\\udc00😀"']));
    expect(() => samples({ pattern: '^\\u{50000}$' })).toThrow('that no JSON string can contain');
  });

  it('only valid dates and times', () => {
    for (const text of all({ type: 'string', format: 'date-time' })) {
      expect(Number.isNaN(Date.parse(JSON.parse(text)))).toBe(false);
    }
  });
});
