import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { repetitions } from '../../../test/harness/tier.ts';
import { GbnfSampler } from '../testing/gbnf-sampler.ts';
import { generatedSchemas } from '../testing/generated-schemas.ts';
import { followableSchema } from '../testing/json-schemas.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { completeJson } from './complete-json.ts';
import { Grammar } from './grammar.ts';
import { schemaRule } from './schema-grammar.ts';
import type { JsonSchema } from './schema-values.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

function buildGrammar(schema: JsonSchema | boolean, room = 1_000_000): string {
  const grammar = new Grammar(room);
  return grammar.text(schemaRule(grammar, schema));
}

/** Completes a truncated response. */
function completed(schema: JsonSchema | boolean, response: string): string {
  const end = completeJson(buildGrammar(schema), response);
  if (end === undefined) throw new Error(`${response} was not completed: ${JSON.stringify(schema)}`);
  return response + end;
}

/** Truncates a generated response at a random position, completes it, and validates it against the schema. */
function expectValidCompletion(schema: JsonSchema, seed: number): void {
  const grammar = buildGrammar(schema);
  const valid = ajv.compile(schema);
  const random = seededRandom(seed);
  const whole = [...new GbnfSampler(grammar).sample(random)];
  const truncated = whole.slice(0, Math.floor(random() * whole.length)).join('');
  for (const response of [truncated, whole.join('')]) {
    const text = completed(schema, response);
    if (!valid(JSON.parse(text))) throw new Error(`${text} is not valid against ${JSON.stringify(schema)}`);
  }
}

it('completes a response that is truncated at any position to valid JSON', () => {
  const seed = fc.nat();
  fc.assert(fc.property(followableSchema, seed, expectValidCompletion), { numRuns: repetitions(25, 300) });
});

it('completes responses to generated library schemas to valid JSON', () => {
  for (const [seed, schema] of generatedSchemas(repetitions(40, 200), 1).entries())
    expectValidCompletion(schema, seed);
});

it('adds the shortest end', () => {
  const name = { type: 'string' };
  const schema = { type: 'object', properties: { name, tags: { items: name }, age: {} }, required: ['name'] };
  expect(completed(schema, '')).toBe('{"name":""}');
  expect(completed(schema, '{"name":"Ad')).toBe('{"name":"Ad"}');
  expect(completed(schema, '{"name":"Ad\\')).toBe('{"name":"Ad\\""}');
  expect(completed(schema, '{"name":"Ad","tags":["a"')).toBe('{"name":"Ad","tags":["a"]}');
  expect(completed(schema, '{"name":"Ad","tags":["a",')).toBe('{"name":"Ad","tags":["a",""]}');
  expect(completed(schema, '{"name":"Ad","age":-')).toBe('{"name":"Ad","age":-0}');
  expect(completed(schema, '{"name":"Ad","age":12}')).toBe('{"name":"Ad","age":12}');
  expect(completed(schema, '{"name":"Ad","age":{"a":[{"b":tr')).toBe(
    '{"name":"Ad","age":{"a":[{"b":true}]}}',
  );
});

it('completes a recursive schema', () => {
  const tree = {
    $defs: {
      node: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } } },
    },
    $ref: '#/$defs/node',
  };
  expect(completed(tree, '{"next":{"next":')).toBe('{"next":{"next":{}}}');
});

it('limits strings by maxLength, or by the tokens of the response', () => {
  const letters = (count: number) => `"${'a'.repeat(count)}`;
  const longest = (schema: JsonSchema, room: number) => {
    const grammar = buildGrammar(schema, room);
    let [min, max] = [0, 4000];
    while (min < max) {
      const count = Math.ceil((min + max) / 2);
      if (completeJson(grammar, letters(count)) === undefined) max = count - 1;
      else min = count;
    }
    return min;
  };
  expect(longest({ type: 'string' }, 20)).toBe(60);
  expect(longest({ type: 'string', maxLength: 80 }, 20)).toBe(60);
  expect(longest({ type: 'string', maxLength: 40 }, 20)).toBe(40);
  expect(longest({ type: 'string', minLength: 70 }, 20)).toBe(70);
  expect(longest({ type: 'string', minLength: 70, maxLength: 80 }, 20)).toBe(70);
  // Longer strings are counted in blocks of 64 characters.
  expect(longest({ type: 'string' }, 700)).toBe(2175);
  expect(longest({}, 20)).toBe(60);
});

it('returns nothing for text that the grammar does not allow', () => {
  expect(completeJson(buildGrammar({ type: 'null' }), 'no')).toBeUndefined();
  expect(completeJson(buildGrammar({ type: 'null' }), 'null and more')).toBeUndefined();
});

it('returns nothing if the end would exceed the length limit', () => {
  const list = (items: object, minItems: number) => ({ type: 'array', items, minItems });
  const short = list({ const: 'a'.repeat(10) }, 900);
  expect(JSON.parse(completed(short, '["'))).toHaveLength(900);
  expect(completeJson(buildGrammar(list(short, 2)), '[')).toBeUndefined();
});

it('returns nothing for text that is too expensive to parse', () => {
  const letters = (count: number) => `"${'a'.repeat(count)}`;
  expect(completed({ type: 'string' }, letters(100_000))).toBe(`${letters(100_000)}"`);
  expect(completeJson(buildGrammar({ type: 'string', pattern: 'c' }), letters(100_000))).toBe('c"');
  expect(completeJson(buildGrammar({ type: 'string', pattern: 'c' }), letters(1_000_000))).toBeUndefined();
  const often = { type: 'string', pattern: '(a{0,9}b?){0,25}c' };
  expect(completed(often, letters(500))).toBe(`${letters(500)}c"`);
});
