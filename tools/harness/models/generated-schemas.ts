/** JSON Schemas from a library that knows nothing of grammars: json-schema-faker, given a schema of schemas. */

import { generateSync, type JsonSchema as Meta } from 'json-schema-faker';
import type { JsonSchema } from '../../../src/contract/engines/text.ts';

const WORDS = ['red', 'a b', 'say "no"', 'naïve', '漢字', '😀', 'C:\\', '', 'true'];
const PATTERNS = [
  '^[A-Z]{2}-[0-9]{3}$',
  '^(red|green|blue)$',
  '^v[0-9]{1,2}\\.[0-9]{1,2}$',
  '^[a-z_]{3,12}$',
];
const FORMATS = ['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'uri'];
const TYPE_LISTS = [
  ['string', 'null'],
  ['integer', 'null'],
  ['boolean', 'string'],
];
/** How deep objects, arrays and choices stand in each other. */
const DEPTH = 2;
/** The library gives up on a value that is deeper. */
const FAR = 64;

const integer = (minimum: number, maximum: number): Meta => ({ type: 'integer', minimum, maximum });
const halves = (minimum: number, maximum: number): Meta => ({
  ...{ type: 'number', minimum, maximum, multipleOf: 0.5 },
});
/** An object of these members, of which some may be left out. */
const object = (always: Record<string, Meta>, maybe: Record<string, Meta> = {}): Meta => ({
  type: 'object',
  properties: { ...always, ...maybe },
  required: Object.keys(always),
  additionalProperties: false,
});
const list = (items: Meta, minItems: number, maxItems: number, more: Record<string, unknown> = {}): Meta => ({
  ...{ type: 'array', items, minItems, maxItems, ...more },
});
const tuple = (...prefixItems: Meta[]): Meta => ({
  ...{ type: 'array', prefixItems, items: false, minItems: prefixItems.length, maxItems: prefixItems.length },
});
const type = (name: string) => ({ type: { const: name } });

const value: Meta = {
  anyOf: [{ enum: WORDS }, integer(-2000, 2000), { type: 'boolean' }, { type: 'null' }],
};

/** Schemas of what has neither members nor items, and names no other schema. */
const plain: readonly Meta[] = [
  object(type('string')),
  object({ ...type('string'), minLength: integer(0, 4), maxLength: integer(4, 30) }),
  object({ ...type('string'), pattern: { enum: PATTERNS } }),
  object({ ...type('string'), format: { enum: FORMATS } }),
  object(type('integer')),
  object(type('integer'), { minimum: integer(-500, 0), maximum: integer(40, 900) }),
  object({
    ...type('integer'),
    minimum: integer(-50, 0),
    maximum: integer(30, 90),
    multipleOf: integer(2, 9),
  }),
  object({ ...type('number'), minimum: halves(-100, 0), maximum: halves(1, 100) }),
  object({ ...type('number'), exclusiveMinimum: halves(-9, 0), exclusiveMaximum: halves(1, 9) }),
  object(type('boolean')),
  object(type('null')),
  object({ enum: list(value, 1, 5, { uniqueItems: true }) }),
  object({ const: value }),
  object({ type: { enum: TYPE_LISTS } }),
];
const leaf: Meta = {
  anyOf: [...plain, object({ $ref: { enum: ['#/$defs/leaf', '#/$defs/node'] } })],
};

/** Schemas of everything, so deep. */
function schemas(depth: number): Meta {
  if (depth === 0) return leaf;
  const inner = schemas(depth - 1);
  const properties = object({ id: inner, name: leaf }, { tags: inner, 'a "b"': leaf, größe: inner });
  const someNames = list({ enum: ['id', 'name'] }, 1, 2, { uniqueItems: true });
  const variant = (kind: string) =>
    object({
      ...type('object'),
      properties: object({ kind: object({ const: { const: kind } }), value: leaf }),
      required: { const: ['kind'] },
      additionalProperties: { const: false },
    });
  const nothing = object(type('null'));
  return {
    anyOf: [
      object({ ...type('object'), properties }, { required: someNames }),
      object(
        { ...type('object'), properties, additionalProperties: { const: false } },
        { required: someNames },
      ),
      object({ ...type('object'), additionalProperties: inner, maxProperties: integer(1, 3) }),
      object({ ...type('array'), items: inner, maxItems: integer(2, 4) }, { minItems: integer(0, 2) }),
      object({ ...type('array'), items: leaf }),
      object({ ...type('array'), prefixItems: list(inner, 1, 3), items: { const: false } }),
      object({ anyOf: list(inner, 2, 3) }),
      object({ anyOf: tuple(inner, nothing) }),
      object({ oneOf: tuple(variant('a'), variant('b')) }),
      object({
        allOf: tuple(
          object({ ...type('object'), properties: object({ id: inner }), required: { const: ['id'] } }),
          object({ properties: object({ name: leaf }) }),
        ),
      }),
    ],
  };
}

/** What references of the schemas name: a value, and an object that may hold itself. */
const DEFINITIONS: Meta = object({
  leaf: { anyOf: [...plain] },
  node: {
    const: {
      type: 'object',
      properties: {
        value: { $ref: '#/$defs/leaf' },
        next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
      },
      required: ['value', 'next'],
      additionalProperties: false,
    },
  },
});

/**
 * Schemas of objects, maps, arrays, tuples, enums, constants, numbers and texts with limits, patterns, formats,
 * choices and references, in each other. The same seed makes the same.
 */
export function generatedSchemas(count: number, seed: number): JsonSchema[] {
  const root = schemas(DEPTH);
  return Array.from({ length: count }, (_, i) => {
    const options = { seed: seed + i, optionalsProbability: 0.5, maxDepth: FAR };
    const schema = generateSync(root, options) as JsonSchema;
    if (!JSON.stringify(schema).includes('"$ref"')) return schema;
    return { ...schema, $defs: generateSync(DEFINITIONS, options) };
  });
}
