import type { TSchema } from '@sinclair/typebox';
import fc from 'fast-check';

/** Texts that need escaping: quotes, NUL, half a surrogate pair, line separators. */
const TEXT = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('"', '\\', '\u0000', '\ud83d', '\u2028', 'output_audio', 'response.audio.delta'),
);

/** Values that match a schema: all variants of unions, with and without optional fields. */
export function schemaArbitrary(schema: TSchema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(schemaArbitrary));
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000_000, max: schema.maximum ?? 1_000_000 });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e9, max: schema.maximum ?? 1e9, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      if (schema.maxItems === 0) return fc.constant([]);
      return fc.array(schemaArbitrary(schema.items), {
        minLength: schema.minItems ?? 0,
        maxLength: schema.maxItems ?? 3,
      });
    case 'object':
      return objectOf(schema);
    default:
      throw new Error(`There are no values of ${JSON.stringify(schema)}.`);
  }
}

function textOf({ pattern, minLength = 0, maxLength }: TSchema): fc.Arbitrary<string> {
  // The patterns of the protocol are prefixes such as ^resp_.
  const prefix = /^\^(\w+)\.$/.exec(pattern ?? '')?.[1] ?? '';
  if (pattern !== undefined) return fc.uuid().map((id) => `${prefix}${id}`);
  const hasLength = (text: string) => text.length >= minLength && text.length <= (maxLength ?? text.length);
  return TEXT.filter(hasLength);
}

function objectOf({ properties, required = [] }: TSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries<TSchema>(properties);
  return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, schemaArbitrary(field)])), {
    requiredKeys: required,
    noNullPrototype: true,
  });
}
