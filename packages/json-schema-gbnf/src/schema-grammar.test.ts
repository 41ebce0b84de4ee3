import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repetitions } from '../../../test/harness/tier.ts';
import { GbnfSampler, withoutSpaces } from '../testing/gbnf-sampler.ts';
import { generatedSchemas } from '../testing/generated-schemas.ts';
import { conditionalSchema, followableSchema } from '../testing/json-schemas.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { Grammar } from './grammar.ts';
import { readGrammar } from './grammar-reader.ts';
import { PrefixParser } from './prefix-parser.ts';
import { schemaRule } from './schema-grammar.ts';
import { type JsonSchema, UnsupportedSchemaError } from './schema-values.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Random strings of the grammar of a schema. */
function samples(schema: JsonSchema | boolean, count = 8, seed = 1): string[] {
  const grammar = new Grammar(100);
  const sampler = new GbnfSampler(grammar.text(schemaRule(grammar, schema)));
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => sampler.sample(random));
}

/** Samples of a schema; none if it is not supported. */
function samplesOrNone(schema: JsonSchema, seed: number): string[] {
  try {
    return samples(schema, 8, seed);
  } catch (error) {
    if (error instanceof UnsupportedSchemaError) return [];
    throw error;
  }
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
    { numRuns: repetitions(50, 300) },
  );
});

it('generates only valid values of schemas with conditions, choices and negations', () => {
  let supported = 0;
  let all = 0;
  fc.assert(
    fc.property(conditionalSchema, fc.nat(), (schema, seed) => {
      all += 1;
      const valid = ajv.compile(schema);
      for (const text of samplesOrNone(schema, seed)) {
        supported += 1 / 8;
        if (!valid(JSON.parse(text)))
          throw new Error(`${text} is not valid against ${JSON.stringify(schema)}`);
      }
    }),
    { numRuns: repetitions(65, 4000) },
  );
  expect(supported / all).toBeGreaterThan(0.6);
});

it('supports all generated library schemas and generates only valid values', () => {
  for (const [seed, schema] of generatedSchemas(repetitions(80, 200), 1).entries()) {
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
    ['not: true', { not: true }, 'no value is valid'],
    ['a long pattern', { pattern: 'a'.repeat(1001) }, 'more than 1000 characters'],
    [
      'many repetitions of patterns',
      { pattern: 'a{0,1500}b{0,1500}'.repeat(20) },
      'the schema is too complex',
    ],
    ['the schema false', false, 'no value is valid'],
    ['uniqueItems', { type: 'array', uniqueItems: true }, "'uniqueItems'"],
    [
      'a nested keyword, with its place',
      { properties: { a: { items: { minContains: 2, contains: {} } } } },
      "'minContains' (at properties/a/items)",
    ],
    ['a schema that excludes its own values', { type: 'null', not: { const: null } }, 'no value is valid'],
    ['a complement of a format', { type: 'string', not: { format: 'date' } }, 'no value is valid'],
    [
      'a choice of which one excludes a format',
      {
        oneOf: [
          { type: 'string', format: 'date' },
          { type: 'string', format: 'date' },
        ],
      },
      "'oneOf' with schemas",
    ],
    ['a minimum of members with arbitrary names', { type: 'object', minProperties: 2 }, 'no value is valid'],
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
    ['a pattern with too many repetitions', { pattern: '^(a{0,50}){50}$' }, 'too many repetitions'],
    ['a pattern with nested repetitions', { pattern: '^((a{1,9}){1,9}){1,9}$' }, 'too many repetitions'],
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
      "'$ref' refers to itself without an intermediate value",
    ],
    [
      'limits that allow no number',
      { type: 'integer', minimum: 3, maximum: 2 },
      'limits that allow no number',
    ],
    ['multipleOf without limits', { type: 'integer', multipleOf: 700 }, "'multipleOf' without limits"],
    [
      'patterns without a common text',
      { type: 'string', allOf: [{ pattern: '^a$' }, { pattern: '^b$' }] },
      'no value is valid',
    ],
    ['a pattern with many combinations', { pattern: '(a|b)*a(a|b){12}', maxLength: 40 }, 'too many'],
  ])('%s', (_, schema, what) => {
    expect(() => samples(schema)).toThrow(UnsupportedSchemaError);
    expect(() => samples(schema)).toThrow(what);
  });

  it('too many enum values or characters', () => {
    const values = Array.from({ length: 1001 }, (_, i) => `value ${i}`);
    expect(() => samples({ enum: values })).toThrow('more than 1000 enum values');
    expect(samples({ enum: values.slice(1) }, 1)).toHaveLength(1);
    expect(() => samples({ const: 'x'.repeat(400_000) })).toThrow('exceeds 120000 characters');
  });

  it('too many required members', () => {
    const required = Array.from({ length: 1001 }, (_, i) => `name ${i}`);
    expect(() => samples({ required })).toThrow('more than 1000 enum values');
  });

  it('too many patterns of names, and choices that multiply', () => {
    const patterns = Array.from({ length: 7 }, (_, i) => [`^${i}`, {}]);
    expect(() => samples({ patternProperties: Object.fromEntries(patterns) })).toThrow(
      'more than 6 patterns',
    );
    const choice = (i: number) => ({ anyOf: [{ required: [`a${i}`] }, { required: [`b${i}`] }] });
    const choices = (count: number) => ({
      type: 'object',
      allOf: Array.from({ length: count }, (_, i) => choice(i)),
    });
    expect(samples(choices(5), 1)).toHaveLength(1);
    expect(() => samples(choices(10))).toThrow('too many combinations of choices');
  });

  it('nesting that is too deep', () => {
    let schema: JsonSchema = { type: 'null' };
    for (let depth = 0; depth < 100; depth += 1) schema = { type: 'array', items: schema };
    expect(() => samples(schema)).toThrow('nesting deeper than 64');
  });
});

describe('the grammar of a schema allows', () => {
  /** Whether the grammar of a schema allows a text. */
  const allows = (schema: JsonSchema, text: string) => {
    const grammar = new Grammar(100);
    const parser = new PrefixParser(readGrammar(grammar.text(schemaRule(grammar, schema))));
    return parser.accepts(text);
  };
  /** The distinct strings of 400 samples, which cover a small grammar, without optional spaces. */
  const all = (schema: JsonSchema) => new Set(samples(schema, 400).map(withoutSpaces));

  it('one space after a colon and after a comma, and no other whitespace', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'array', items: { type: 'boolean' } } },
      required: ['a', 'b'],
      additionalProperties: false,
    };
    for (const any of [schema, {}]) {
      expect(allows(any, '{"a":1,"b":[true,false]}')).toBe(true);
      expect(allows(any, '{"a": 1, "b": [true, false]}')).toBe(true);
      for (const spaced of [
        '{ "a":1,"b":[]}',
        '{"a" :1,"b":[]}',
        '{"a":  1,"b":[]}',
        '{"a":1,"b":[ ]}',
        '{"a":1 ,"b":[]}',
      ])
        expect(allows(any, spaced), spaced).toBe(false);
    }
  });

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
    expect(texts.size).toBeGreaterThan(9);
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
    expect(all({ required: ['x'], additionalProperties: { const: 2 }, maxProperties: 1 })).toEqual(
      new Set(['{"x":2}']),
    );
    for (const text of all({ type: 'object', additionalProperties: { const: 2 }, maxProperties: 1 })) {
      expect(Object.values(JSON.parse(text)).every((each) => each === 2)).toBe(true);
    }
  });

  it('members with other names only if a keyword for them is present', () => {
    const flag = { const: 1 };
    const closed = { type: 'object', properties: { a: flag }, required: ['a'] };
    expect(all(closed)).toEqual(new Set(['{"a":1}']));
    const texts = all({ ...closed, additionalProperties: { const: 2 } });
    expect(texts.size).toBeGreaterThan(20);
    for (const text of texts) {
      const { a, ...others } = JSON.parse(text);
      expect(a).toBe(1);
      expect(Object.values(others).every((each) => each === 2)).toBe(true);
    }
  });

  it('accepts all names that differ from the listed ones, and no listed one', () => {
    const schema = {
      type: 'object',
      properties: { ab: { const: 1 }, abc: { const: 1 }, 'q"': { const: 1 } },
      additionalProperties: { const: 2 },
    };
    for (const name of ['', 'a', 'abd', 'abcd', 'b', 'ba', 'q', 'q"x', '漢', 'q\\']) {
      expect(allows(schema, JSON.stringify({ [name]: 2 }))).toBe(true);
    }
    for (const name of ['ab', 'abc', 'q"']) {
      expect(allows(schema, JSON.stringify({ [name]: 2 }))).toBe(false);
      expect(allows(schema, JSON.stringify({ [name]: 1 }))).toBe(true);
    }
  });

  it('other names than many long ones, within the limits of llama.cpp', () => {
    const names = Array.from({ length: 30 }, (_, i) => `a long name with the number ${i}`);
    const properties = Object.fromEntries(names.map((name) => [name, { const: 1 }]));
    const schema = { type: 'object', properties, additionalProperties: { const: 2 } };
    expect(samples(schema, 1)).toHaveLength(1);
    expect(allows(schema, '{"a long name with the number 7":1,"a long name with the number 77":2}')).toBe(
      true,
    );
    expect(allows(schema, '{"a long name with the number 7":2}')).toBe(false);
  });

  it('patternProperties, with the other members by additionalProperties', () => {
    const schema = {
      type: 'object',
      properties: { x1: { type: 'integer' } },
      patternProperties: { '^x': { maximum: 5, type: 'number' }, '1$': { minimum: 3, type: 'number' } },
      additionalProperties: { type: 'null' },
    };
    expect(allows(schema, '{"x1":4,"x2":1.5,"y1":7,"z":null}')).toBe(true);
    expect(allows(schema, '{"x1":6}')).toBe(false);
    expect(allows(schema, '{"x1":3.5}')).toBe(false);
    expect(allows(schema, '{"x31":2}')).toBe(false);
    expect(allows(schema, '{"x31":4}')).toBe(true);
    expect(allows(schema, '{"z":4}')).toBe(false);
    expect(
      allows({ type: 'object', patternProperties: { '^x': {} }, additionalProperties: false }, '{"y":1}'),
    ).toBe(false);
  });

  it('propertyNames', () => {
    const schema = { type: 'object', propertyNames: { pattern: '^[a-c]+$', maxLength: 2 } };
    expect(allows(schema, '{"ab":1,"c":[]}')).toBe(true);
    expect(allows(schema, '{"abc":1}')).toBe(false);
    expect(allows(schema, '{"d":1}')).toBe(false);
    expect(
      all({
        type: 'object',
        propertyNames: { enum: ['a'] },
        additionalProperties: { const: 1 },
        maxProperties: 1,
      }),
    ).toEqual(new Set(['{}', '{"a":1}']));
  });

  it('limits of the number of members', () => {
    const flag = { const: 1 };
    const schema = { type: 'object', properties: { a: flag, b: flag, c: flag } };
    expect(all({ ...schema, minProperties: 2 })).toEqual(
      new Set(['{"a":1,"b":1}', '{"a":1,"c":1}', '{"b":1,"c":1}', '{"a":1,"b":1,"c":1}']),
    );
    expect(all({ ...schema, maxProperties: 1 })).toEqual(new Set(['{}', '{"a":1}', '{"b":1}', '{"c":1}']));
  });

  it('dependencies', () => {
    const flag = { const: 1 };
    const schema = { type: 'object', properties: { a: flag, b: flag } };
    const expected = new Set(['{}', '{"b":1}', '{"a":1,"b":1}']);
    expect(all({ ...schema, dependentRequired: { a: ['b'] } })).toEqual(expected);
    expect(all({ ...schema, dependencies: { a: ['b'] } })).toEqual(expected);
    expect(all({ ...schema, dependentSchemas: { a: { required: ['b'] } } })).toEqual(expected);
  });

  it('conditions', () => {
    const schema = {
      type: 'object',
      properties: { kind: { enum: ['a', 'b'] }, size: { enum: [1, 2] } },
      required: ['kind', 'size'],
      if: { properties: { kind: { const: 'a' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { properties: { size: { const: 1 } } },
      else: { properties: { size: { const: 2 } } },
    };
    expect(all(schema)).toEqual(new Set(['{"kind":"a","size":1}', '{"kind":"b","size":2}']));
  });

  it('negations', () => {
    expect(all({ enum: ['a', 1, null], not: { type: 'string' } })).toEqual(new Set(['1', 'null']));
    expect(all({ type: 'integer', minimum: 0, maximum: 5, not: { multipleOf: 2 } })).toEqual(
      new Set(['1', '3', '5']),
    );
    expect(all({ type: 'string', maxLength: 1, pattern: '^[ab]*$', not: { const: 'a' } })).toEqual(
      new Set(['""', '"b"']),
    );
    expect(all({ not: { not: { const: [1] } } })).toEqual(new Set(['[1]']));
    const flag = { const: 1 };
    const either = { type: 'object', properties: { a: flag, b: flag }, not: { required: ['a', 'b'] } };
    expect(all(either)).toEqual(new Set(['{}', '{"a":1}', '{"b":1}']));
    expect(allows({ not: { type: 'array', items: { type: 'null' } } }, '[null,1]')).toBe(true);
    expect(allows({ not: { type: 'array', items: { type: 'null' } } }, '[null,null]')).toBe(false);
  });

  it('oneOf with schemas that overlap, without the common values', () => {
    expect(all({ oneOf: [{ enum: [1, 2] }, { enum: [2, 3] }] })).toEqual(new Set(['1', '3']));
    expect(
      all({
        type: 'string',
        maxLength: 2,
        oneOf: [{ pattern: '^a' }, { pattern: 'b$' }],
        pattern: '^[ab]*$',
      }),
    ).toEqual(new Set(['"a"', '"aa"', '"b"', '"bb"']));
    const one = (name: string) => ({ required: [name] });
    const flag = { const: 1 };
    const schema = { type: 'object', properties: { a: flag, b: flag }, oneOf: [one('a'), one('b')] };
    expect(all(schema)).toEqual(new Set(['{"a":1}', '{"b":1}']));
    for (const text of all({ oneOf: [{ type: 'number' }, { type: 'integer' }] })) {
      expect(Number.isInteger(Number(text))).toBe(false);
    }
  });

  it('patterns and formats with limits of the length', () => {
    expect(all({ type: 'string', pattern: '^a*b?$', minLength: 1, maxLength: 2 })).toEqual(
      new Set(['"a"', '"aa"', '"b"', '"ab"']),
    );
    expect(all({ type: 'string', allOf: [{ pattern: '^[ab]+$' }, { pattern: 'aa' }], maxLength: 3 })).toEqual(
      new Set(['"aa"', '"aaa"', '"aab"', '"baa"']),
    );
    for (const maxLength of [300, 100, 40, 20]) {
      for (const text of all({ type: 'string', format: 'email', maxLength })) {
        expect(JSON.parse(text)).toMatch(/^[^@\s]+@[^@\s]+\.[a-z]+$/i);
        expect(JSON.parse(text).length).toBeLessThanOrEqual(maxLength);
      }
    }
    expect(all({ type: 'string', pattern: '(^a$)|(^(b*)*c$)', maxLength: 2 })).toEqual(
      new Set(['"a"', '"c"', '"bc"']),
    );
  });

  it('any string for a format that is unknown', () => {
    expect(allows({ type: 'string', format: 'color' }, '"any text"')).toBe(true);
    expect(allows({ type: 'string', format: 'date' }, '"any text"')).toBe(false);
    expect(allows({ type: 'string', format: 'date' }, '"2024-02-29"')).toBe(true);
    expect(allows({ type: 'string', format: 'date' }, '"2023-02-29"')).toBe(false);
  });

  it('numbers with fractions and exponents', () => {
    for (const text of ['1e-7', '-2.5E+30', '0.1234567890123456', '100.0']) {
      expect(allows({ type: 'number' }, text)).toBe(true);
    }
    const within = { type: 'number', minimum: -1.25, maximum: 100 };
    for (const text of ['-1.25', '-1.2', '-1', '0', '37.7749', '100', '100.0'])
      expect(allows(within, text)).toBe(true);
    for (const text of ['-1.26', '-2', '100.1', '101', '1e3']) expect(allows(within, text)).toBe(false);
    expect(allows({ type: 'number', exclusiveMinimum: 0 }, '1e-9')).toBe(true);
    expect(allows({ type: 'number', exclusiveMinimum: 0 }, '0')).toBe(false);
    expect(allows({ type: 'number', exclusiveMinimum: 0 }, '0.0')).toBe(false);
  });

  it('multiples without limits', () => {
    for (const text of all({ type: 'integer', multipleOf: 7 })) expect(Math.abs(Number(text) % 7)).toBe(0);
    expect(allows({ type: 'integer', multipleOf: 7, minimum: 0 }, '-7')).toBe(false);
    expect(allows({ type: 'integer', multipleOf: 7, minimum: 0 }, '70000')).toBe(true);
  });

  it('listed values that satisfy the other keywords', () => {
    expect(all({ enum: [1, 2, 'ab', 'c'], minimum: 2, minLength: 2 })).toEqual(new Set(['2', '"ab"']));
    const object = { type: 'object', required: ['a'], properties: { a: { maximum: 1 } } };
    expect(all({ ...object, enum: [{}, { a: 1 }, { a: 2 }] })).toEqual(new Set(['{"a":1}']));
  });

  it('an object without an optional member that has no valid value', () => {
    const schema = { type: 'object', properties: { a: { type: 'object', enum: ['x'] }, b: { const: 1 } } };
    expect(all(schema)).toEqual(new Set(['{}', '{"b":1}']));
  });

  it('contains, and different items of a list of values', () => {
    expect(allows({ type: 'array', contains: { const: 1 } }, '[2,1,3]')).toBe(true);
    expect(allows({ type: 'array', contains: { const: 1 } }, '[2,3]')).toBe(false);
    expect(all({ type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true })).toEqual(
      new Set(['[]', '["a"]', '["b"]', '["a","b"]']),
    );
  });

  it('unevaluatedProperties', () => {
    const flag = { const: 1 };
    const schema = {
      type: 'object',
      allOf: [{ properties: { a: flag } }],
      unevaluatedProperties: { const: 2 },
    };
    expect(allows(schema, '{"a":1,"b":2}')).toBe(true);
    expect(allows(schema, '{"a":2}')).toBe(false);
    expect(allows({ ...schema, unevaluatedProperties: false }, '{"a":1,"b":2}')).toBe(false);
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
