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

/** Some strings of the grammar of a schema. */
function written(schema: JsonSchema | boolean, count = 8, seed = 1): string[] {
  const grammar = new Grammar(100);
  const sampler = new GbnfSampler(grammar.text(schemaRule(grammar, schema, 'schema')));
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => sampler.sample(random));
}

it('writes only what a schema allows', () => {
  fc.assert(
    fc.property(followableSchema, fc.nat(), (schema, seed) => {
      const valid = ajv.compile(schema);
      for (const text of written(schema, 8, seed)) {
        const value: unknown = JSON.parse(text);
        if (!valid(value)) throw new Error(`${text} is not valid against ${JSON.stringify(schema)}`);
      }
    }),
    { numRuns: 300 },
  );
});

it('writes only what schemas of a library allow, and refuses none of them', () => {
  for (const [seed, schema] of generatedSchemas(200, 1).entries()) {
    for (const text of written(schema, 4, seed)) {
      const value: unknown = JSON.parse(text);
      if (!ajv.validate(schema, value)) throw new Error(`${text}: ${JSON.stringify(schema)}`);
    }
  }
});

describe('an unsupported schema is rejected with its keyword', () => {
  it.each<[string, JsonSchema | boolean, string]>([
    ['not a schema', { items: 5 } as JsonSchema, 'not a schema (at items)'],
    ['nothing in the place of a schema', { allOf: [null] } as JsonSchema, 'not a schema'],
    [
      'a limit that is not a number',
      { type: 'string', maxLength: '5' },
      "'maxLength' is not a non-negative integer",
    ],
    ['more things than can be', { type: 'array', minItems: 1000 }, "'minItems' above 999"],
    ['half a thing', { type: 'array', minItems: 1.5 }, "'minItems' is not a non-negative integer"],
    [
      'a number without end',
      { type: 'number', maximum: Number.POSITIVE_INFINITY },
      "'maximum' is not a finite number",
    ],
    [
      'an older word',
      { type: 'integer', exclusiveMinimum: true },
      "'exclusiveMinimum' is not a finite number",
    ],
    ['a broken reference', { $ref: '#/%' }, "'$ref' to a missing schema"],
    ['not of everything', { not: true }, "'not'"],
    ['a long pattern', { pattern: 'a'.repeat(1001) }, 'more than 1000 characters'],
    [
      'many repetitions of patterns',
      { pattern: 'a{0,1500}b{0,1500}'.repeat(20) },
      'the schema is too complex',
    ],
    ['false', false, 'no value is valid'],
    ['not', { not: { type: 'null' } }, "'not'"],
    ['a condition deep inside', { properties: { a: { items: { if: {} } } } }, "'if' (at properties/a/items)"],
    ['patternProperties', { patternProperties: { '^x': {} } }, "'patternProperties'"],
    ['uniqueItems', { type: 'array', uniqueItems: true }, "'uniqueItems'"],
    ['an unknown format', { type: 'string', format: 'iri' }, "the format 'iri'"],
    ['an unknown type', { type: 'text' }, "unknown 'type'"],
    ['more types than there are', { type: Array(8).fill('string') }, "duplicate 'type'"],
    ['all of very many', { allOf: Array(257).fill({}) }, "'allOf' with more than 256 schemas"],
    ['a reference to a list', { allOf: [{ type: 'null' }], $ref: '#/allOf' }, "'$ref' to a missing schema"],
    [
      'oneOf with a value twice',
      { oneOf: [{ const: { a: 1, b: 2 } }, { enum: [{ b: 2, a: 1 }] }] },
      "'oneOf' with schemas",
    ],
    ['a pattern that looks ahead', { pattern: '^(?=a)' }, 'lookahead or lookbehind'],
    ['a pattern that goes round', { pattern: '(a*)*' }, 'a repetition of an expression that may be empty'],
    ['a pattern that is too much', { pattern: '^(a{0,50}){50}$' }, 'too many repetitions'],
    [
      'a pattern of repetitions in repetitions',
      { pattern: '^((a{1,9}){1,9}){1,9}$' },
      'too many repetitions',
    ],
    ['a pattern and a length', { pattern: 'a', maxLength: 3 }, "more than one of 'format', 'pattern'"],
    ['a reference to nothing', { $ref: '#/$defs/none' }, "'$ref' to a missing schema"],
    ['a reference elsewhere', { $ref: 'https://example.com/x' }, "'$ref' outside the schema"],
    ['a reference to itself', { $ref: '#' }, "'$ref' refers to itself without an intermediate value"],
    [
      'a choice that may be itself',
      { anyOf: [{ $ref: '#' }, { type: 'null' }] },
      "'$ref' refers to itself without an intermediate value",
    ],
    [
      'a member that may be itself',
      {
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } },
      },
      "'$ref' refers to itself without an intermediate value",
    ],
    [
      'an item that may be itself, by another',
      {
        items: { $ref: '#/$defs/a' },
        $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/a' }] } },
      },
      "'$ref' refers to itself without an intermediate value",
    ],
    ['itself in all of it', { allOf: [{ $ref: '#' }, { type: 'null' }] }, "'$ref' and 'allOf' nested deeper"],
    [
      'oneOf with more than one',
      { oneOf: [{ type: 'number' }, { type: 'integer' }] },
      "'oneOf' with schemas",
    ],
    ['limits without a number', { type: 'integer', minimum: 3, maximum: 2 }, 'limits that allow no number'],
    ['a step without limits', { type: 'integer', multipleOf: 7 }, "'multipleOf' without limits"],
    [
      'values combined with limits',
      { enum: [1, 2], minimum: 2 },
      "'minimum' combined with 'enum' or 'const'",
    ],
    ['two patterns', { allOf: [{ pattern: 'a' }, { pattern: 'b' }] }, "conflicting values of 'pattern'"],
  ])('%s', (_, schema, what) => {
    expect(() => written(schema)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', param: 'schema' }),
    );
    expect(() => written(schema)).toThrow(what);
  });

  it('one that is far too large', () => {
    const values = Array.from({ length: 1001 }, (_, i) => `value ${i}`);
    expect(() => written({ enum: values })).toThrow('more than 1000 enum values');
    expect(written({ enum: values.slice(1) }, 1)).toHaveLength(1);
    expect(() => written({ const: 'x'.repeat(400_000) })).toThrow('exceeds 120000 characters');
  });

  it('one whose parts name each other too often', () => {
    const $defs: Record<string, JsonSchema> = { d0: { type: 'null' } };
    for (let i = 1; i < 25; i += 1) {
      const $ref = `#/$defs/d${i - 1}`;
      $defs[`d${i}`] = { allOf: [{ $ref }, { $ref }] };
    }
    expect(() => written({ $defs, $ref: '#/$defs/d24' })).toThrow('the schema is too complex');
    const required = Array.from({ length: 1001 }, (_, i) => `name ${i}`);
    expect(() => written({ required })).toThrow('more than 1000 enum values');
  });

  it('one of choices of choices, whose ways to begin multiply', () => {
    const choices = (levels: number): JsonSchema => {
      const $defs: Record<string, JsonSchema> = { a0: { const: 'a' }, b0: { const: 'b' } };
      for (let i = 1; i <= levels; i += 1) {
        const anyOf = ['a', 'b'].map((name) => ({ $ref: `#/$defs/${name}${i - 1}` }));
        Object.assign($defs, { [`a${i}`]: { anyOf }, [`b${i}`]: { anyOf: anyOf.toReversed() } });
      }
      return { required: ['k'], properties: { k: { $ref: `#/$defs/a${levels}` } }, $defs };
    };
    expect(written(choices(10), 1)).toHaveLength(1);
    expect(() => written(choices(11))).toThrow('too many alternatives at the start of a value');
    expect(() => written(choices(25))).toThrow('too many alternatives at the start of a value');
  });

  it('one that is far too deep', () => {
    let schema: JsonSchema = { type: 'null' };
    for (let depth = 0; depth < 100; depth += 1) schema = { type: 'array', items: schema };
    expect(() => written(schema)).toThrow('nesting deeper than 64');
  });
});

describe('what a schema asks for', () => {
  /** Every string that comes in many draws. */
  const all = (schema: JsonSchema) => new Set(written(schema, 400));

  it('every number within narrow limits, and none beyond', () => {
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

  it('limits that are excluded, and decimals', () => {
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

  it('members in their order, optional ones or not', () => {
    const flag = { const: 1 };
    const schema = { type: 'object', properties: { a: flag, b: flag, c: flag }, required: ['b'] };
    expect(all(schema)).toEqual(
      new Set(['{"b":1}', '{"a":1,"b":1}', '{"b":1,"c":1}', '{"a":1,"b":1,"c":1}']),
    );
  });

  it('members that are only required, and any names', () => {
    expect(all({ required: ['x'], additionalProperties: { const: 2 } })).toEqual(new Set(['{"x":2}']));
    for (const text of all({ type: 'object', additionalProperties: { const: 2 }, maxProperties: 1 })) {
      expect(Object.values(JSON.parse(text)).every((each) => each === 2)).toBe(true);
    }
  });

  it('a tuple with more after it', () => {
    const schema = {
      prefixItems: [{ const: 1 }, { const: 2 }],
      items: { const: 3 },
      minItems: 3,
      maxItems: 4,
    };
    expect(all({ type: 'array', ...schema })).toEqual(new Set(['[1,2,3]', '[1,2,3,3]']));
  });

  it('a reference that goes round through members', () => {
    const schema = {
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      $ref: '#/$defs/node',
    };
    expect(all(schema).has('{"next":{"next":{}}}')).toBe(true);
  });

  it('one of several that differ in a member', () => {
    const one = (kind: string) => ({
      type: 'object',
      properties: { kind: { const: kind } },
      required: ['kind'],
    });
    expect(all({ oneOf: [one('a'), one('b')] })).toEqual(new Set(['{"kind":"a"}', '{"kind":"b"}']));
  });

  it('one of many, distinguished by a value or by type', () => {
    const values = Array.from({ length: 300 }, (_, i) => ({ const: `${i}` }));
    expect(all({ oneOf: values }).size).toBeGreaterThan(100);
    const types = { oneOf: [{ type: 'null' }, { const: 'a', type: 'string' }, { type: 'boolean' }] };
    expect(all(types)).toEqual(new Set(['null', '"a"', 'true', 'false']));
  });

  it('what all parts ask for', () => {
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

  it('texts that a pattern matches, with what JSON escapes', () => {
    expect(all({ type: 'string', pattern: '^(a|"|\\\\|\\n){1}$' })).toEqual(
      new Set(['"a"', '"\\""', '"\\\\"', '"\\n"']),
    );
    for (const text of all({ type: 'string', pattern: 'b[0-9]' })) expect(JSON.parse(text)).toMatch(/b[0-9]/);
  });

  it('texts of a length in characters, not in code units', () => {
    for (const text of all({ type: 'string', minLength: 2, maxLength: 3 })) {
      expect([...JSON.parse(text)].length).toBeGreaterThanOrEqual(2);
      expect([...JSON.parse(text)].length).toBeLessThanOrEqual(3);
    }
  });

  it('characters that a vocabulary may lack only as escapes', () => {
    expect(all({ const: 'é\u{50000}😀' })).toEqual(new Set(['"é\\ud900\\udc00😀"']));
    expect(() => written({ pattern: '^\\u{50000}$' })).toThrow('that no JSON string can contain');
  });

  it('dates and times that there are', () => {
    for (const text of all({ type: 'string', format: 'date-time' })) {
      expect(Number.isNaN(Date.parse(JSON.parse(text)))).toBe(false);
    }
  });
});
