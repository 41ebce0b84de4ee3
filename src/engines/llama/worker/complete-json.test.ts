import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { GbnfSampler } from '../../../../test/generators/gbnf-sampler.ts';
import { followableSchema } from '../../../../test/generators/json-schemas.ts';
import { generatedSchemas } from '../../../../tools/harness/models/generated-schemas.ts';
import type { JsonSchema } from '../../../contract/engines/text.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { Grammar } from '../grammar/grammar.ts';
import { schemaRule } from '../grammar/schema-grammar.ts';
import { completeJson } from './complete-json.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

function buildGrammar(schema: JsonSchema | boolean, room = 1_000_000): string {
  const grammar = new Grammar(room);
  return grammar.text(schemaRule(grammar, schema, 'schema'));
}

/** The whole answer that one becomes which was cut. */
function ended(schema: JsonSchema | boolean, said: string): string {
  const end = completeJson(buildGrammar(schema), said);
  if (end === undefined) throw new Error(`${said} has no end: ${JSON.stringify(schema)}`);
  return said + end;
}

/** Cuts an answer to a schema wherever it may be cut, and steps at what it becomes. */
function expectValid(schema: JsonSchema, seed: number): void {
  const grammar = buildGrammar(schema);
  const valid = ajv.compile(schema);
  const random = seededRandom(seed);
  const whole = [...new GbnfSampler(grammar).sample(random)];
  const cut = whole.slice(0, Math.floor(random() * whole.length)).join('');
  for (const said of [cut, whole.join('')]) {
    const text = ended(schema, said);
    if (!valid(JSON.parse(text))) throw new Error(`${text} is not valid against ${JSON.stringify(schema)}`);
  }
}

it('makes an answer valid wherever it was cut', () => {
  const seed = fc.nat();
  fc.assert(fc.property(followableSchema, seed, expectValid), { numRuns: 300 });
});

it('makes answers valid to schemas of a library', () => {
  for (const [seed, schema] of generatedSchemas(200, 1).entries()) expectValid(schema, seed);
});

it('adds no more than there has to be', () => {
  const name = { type: 'string' };
  const schema = { type: 'object', properties: { name, tags: { items: name }, age: {} }, required: ['name'] };
  expect(ended(schema, '')).toBe('{"name":""}');
  expect(ended(schema, '{"name":"Ad')).toBe('{"name":"Ad"}');
  expect(ended(schema, '{"name":"Ad\\')).toBe('{"name":"Ad\\""}');
  expect(ended(schema, '{"name":"Ad","tags":["a"')).toBe('{"name":"Ad","tags":["a"]}');
  expect(ended(schema, '{"name":"Ad","tags":["a",')).toBe('{"name":"Ad","tags":["a",""]}');
  expect(ended(schema, '{"name":"Ad","age":-')).toBe('{"name":"Ad","age":-0}');
  expect(ended(schema, '{"name":"Ad","age":12}')).toBe('{"name":"Ad","age":12}');
  expect(ended(schema, '{"name":"Ad","age":{"a":[{"b":tr')).toBe('{"name":"Ad","age":{"a":[{"b":true}]}}');
});

it('ends what holds itself', () => {
  const tree = {
    $defs: {
      node: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } } },
    },
    $ref: '#/$defs/node',
  };
  expect(ended(tree, '{"next":{"next":')).toBe('{"next":{"next":{}}}');
});

it('ends a text where its limit is, and at the room of the answer where it has none', () => {
  const letters = (count: number) => `"${'a'.repeat(count)}`;
  const longest = (schema: JsonSchema, room: number) => {
    const grammar = buildGrammar(schema, room);
    let [least, most] = [0, 4000];
    while (least < most) {
      const count = Math.ceil((least + most) / 2);
      if (completeJson(grammar, letters(count)) === undefined) most = count - 1;
      else least = count;
    }
    return least;
  };
  expect(longest({ type: 'string' }, 20)).toBe(60);
  expect(longest({ type: 'string', maxLength: 80 }, 20)).toBe(60);
  expect(longest({ type: 'string', maxLength: 40 }, 20)).toBe(40);
  expect(longest({ type: 'string', minLength: 70 }, 20)).toBe(70);
  expect(longest({ type: 'string', minLength: 70, maxLength: 80 }, 20)).toBe(70);
  // Counted in blocks of 64.
  expect(longest({ type: 'string' }, 700)).toBe(2175);
  expect(longest({}, 20)).toBe(60);
});

it('returns nothing for text that the grammar does not allow', () => {
  expect(completeJson(buildGrammar({ type: 'null' }), 'no')).toBeUndefined();
  expect(completeJson(buildGrammar({ type: 'null' }), 'null and more')).toBeUndefined();
});

it('leaves an answer as it is that lacks too much', () => {
  const list = (items: object, minItems: number) => ({ type: 'array', items, minItems });
  const short = list({ const: 'a'.repeat(10) }, 900);
  expect(JSON.parse(ended(short, '["'))).toHaveLength(900);
  expect(completeJson(buildGrammar(list(short, 2)), '[')).toBeUndefined();
});

it('returns nothing for text that is too expensive to parse', () => {
  const letters = (count: number) => `"${'a'.repeat(count)}`;
  expect(ended({ type: 'string' }, letters(100_000))).toBe(`${letters(100_000)}"`);
  expect(completeJson(buildGrammar({ type: 'string', pattern: 'c' }), letters(100_000))).toBe('c"');
  expect(completeJson(buildGrammar({ type: 'string', pattern: 'c' }), letters(1_000_000))).toBeUndefined();
  const often = { type: 'string', pattern: '(a{0,9}b?){0,25}c' };
  expect(ended(often, letters(500))).toBe(`${letters(500)}c"`);
});
