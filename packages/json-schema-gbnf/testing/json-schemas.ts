import fc from 'fast-check';
import type { JsonSchema } from '../src/index.ts';

const limits = (minName: string, maxName: string, upTo: number) =>
  fc
    .tuple(fc.option(fc.nat(upTo), { nil: undefined }), fc.option(fc.nat(upTo), { nil: undefined }))
    .map(([from, more]) => ({
      ...(from !== undefined && { [minName]: from }),
      ...(more !== undefined && { [maxName]: (from ?? 0) + more }),
    }));

const PATTERNS = [
  '^[A-Z]{2}-\\d{3}$',
  'ab+c?',
  '^(red|green|"blue")$',
  '^[^a-z"\\\\]{1,3}\\s.\\u00e9$',
  '^a|b$',
  '^(?:x[0-9]{0,4}){1,3}$',
  '',
];
const FORMATS = ['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'uri'];

const text = fc.oneof(
  fc.constant({}),
  limits('minLength', 'maxLength', 6),
  fc.constantFrom(...PATTERNS).map((pattern) => ({ pattern })),
  fc.constantFrom(...FORMATS).map((format) => ({ format })),
);
const bound = fc.oneof(
  fc.integer({ min: -1200, max: 1200 }),
  fc.integer({ min: -999, max: 999 }).map((n) => n / 100),
);
const range = fc
  .tuple(bound, fc.nat(500), fc.constantFrom('none', 'both', 'low', 'high', 'open'))
  .map(([from, width, which]): JsonSchema => {
    switch (which) {
      case 'none':
        return {};
      case 'both':
        return { minimum: from, maximum: from + 1 + width };
      case 'low':
        return { minimum: from };
      case 'high':
        return { maximum: from };
      default:
        return { exclusiveMinimum: from, exclusiveMaximum: from + 2 + width };
    }
  });
const number = fc
  .tuple(fc.constantFrom('integer', 'number'), range, fc.constantFrom(undefined, 1, 7))
  .map(([type, within, step]) => {
    const narrow = Number(within.maximum) - Number(within.minimum) > 8;
    return { type, ...within, ...(step !== undefined && (step === 1 || narrow) && { multipleOf: step }) };
  });
const value = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null));
const name = fc.constantFrom('a', 'b c', 'd"e', 'ü', 'nested', 'list', '😀');

const { schema } = fc.letrec<{
  schema: JsonSchema;
  object: JsonSchema;
  array: JsonSchema;
  choice: JsonSchema;
}>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text.map((more): JsonSchema => ({ type: 'string', ...more })),
    number,
    fc.constantFrom<JsonSchema>({ type: 'boolean' }, { type: 'null' }, { type: ['string', 'null'] }, {}),
    fc.uniqueArray(value, { minLength: 1, maxLength: 4 }).map((values): JsonSchema => ({ enum: values })),
    value.map((each): JsonSchema => ({ const: each })),
    tie('object'),
    tie('array'),
    tie('choice'),
  ),
  object: fc
    .tuple(
      fc.dictionary(name, tie('schema'), { maxKeys: 4 }),
      fc.array(name, { maxLength: 2 }),
      fc.oneof(fc.constantFrom(undefined, true), tie('schema')),
      fc.boolean(),
    )
    .map(([properties, required, more, closed]): JsonSchema => {
      const known = required.filter((each) => !closed || Object.hasOwn(properties, each));
      const additionalProperties = closed ? false : more;
      return {
        type: 'object',
        properties: { ...properties },
        required: [...new Set(known)],
        ...(additionalProperties !== undefined && { additionalProperties }),
      };
    }),
  array: fc
    .tuple(tie('schema'), limits('minItems', 'maxItems', 3), fc.array(tie('schema'), { maxLength: 2 }))
    .map(
      ([items, within, first]): JsonSchema => ({
        type: 'array',
        items,
        ...(first.length > 0 && { prefixItems: first }),
        ...within,
      }),
    ),
  choice: fc
    .tuple(fc.array(tie('schema'), { minLength: 1, maxLength: 3 }), fc.boolean(), tie('object'))
    .map(
      ([anyOf, all, object]): JsonSchema =>
        all ? { allOf: [object, { required: [] }], title: 'x' } : { anyOf },
    ),
}));

/** Schemas of every kind that grammars support. */
export const followableSchema: fc.Arbitrary<JsonSchema> = schema;

const flags = fc.constantFrom<JsonSchema>(
  {},
  { const: 1 },
  { type: 'integer' },
  { type: ['string', 'null'] },
);
const short = fc.constantFrom('a', 'b', 'ab', 'c');
const names = fc.uniqueArray(short, { maxLength: 2 });
/** Constraints of strings, numbers, arrays and objects, which may have no common value. */
const constraint: fc.Arbitrary<JsonSchema> = fc.oneof(
  fc.constantFrom<JsonSchema>(
    ...[{ type: 'object' }, { type: ['object', 'string'] }, { type: 'array' }, { type: 'number' }],
    ...[{ pattern: '^[ab]*$' }, { pattern: 'b.' }, { pattern: '^(a|bc){1,3}$' }, { format: 'date' }],
    ...[{ minLength: 2, maxLength: 12 }, { maxLength: 3 }, { const: 'ab' }, { enum: ['a', 2, [1], null] }],
    ...[{ multipleOf: 2 }, { minimum: -1.5, maximum: 20 }, { exclusiveMinimum: 3 }, { type: 'integer' }],
    ...[{ items: { type: 'integer' } }, { minItems: 1, maxItems: 3 }, { contains: { const: 1 } }],
    ...[{ propertyNames: { pattern: '^a' } }, { minProperties: 1 }, { maxProperties: 2 }],
    ...[{ additionalProperties: false }, { additionalProperties: { type: 'integer' } }],
  ),
  fc.dictionary(short, flags, { maxKeys: 3 }).map((properties) => ({ properties: { ...properties } })),
  fc
    .dictionary(fc.constantFrom('^a', 'b$'), flags, { maxKeys: 2 })
    .map((patterns) => ({ patternProperties: { ...patterns } })),
  names.map((required) => ({ required })),
  fc.tuple(short, names).map(([name, needed]) => ({ dependentRequired: { [name]: needed } })),
);
const { conditional } = fc.letrec<{ conditional: JsonSchema }>((tie) => ({
  conditional: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    {
      weight: 4,
      arbitrary: fc.array(constraint, { minLength: 1, maxLength: 3 }).map((all) => Object.assign({}, ...all)),
    },
    { weight: 1, arbitrary: tie('conditional').map((not) => ({ not })) },
    {
      weight: 1,
      arbitrary: fc.array(tie('conditional'), { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })),
    },
    {
      weight: 1,
      arbitrary: fc.array(tie('conditional'), { minLength: 1, maxLength: 3 }).map((oneOf) => ({ oneOf })),
    },
    {
      weight: 1,
      arbitrary: fc.array(tie('conditional'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(tie('conditional'), tie('conditional'), tie('conditional'))
        .map(([condition, met, unmet]) =>
          Object.fromEntries([
            ['if', condition],
            ['then', met],
            ['else', unmet],
          ]),
        ),
    },
    {
      weight: 1,
      arbitrary: tie('conditional').map((each) => ({ properties: { a: each }, required: ['a'] })),
    },
  ),
}));

/** Schemas with negations, conditions and choices that overlap. Grammars support many of them. */
export const conditionalSchema: fc.Arbitrary<JsonSchema> = conditional;
