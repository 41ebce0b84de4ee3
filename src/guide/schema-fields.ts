/** Converts a JSON Schema to a table of fields, including the fields of nested objects. */

/** The JSON Schema keywords that the AsyncAPI documents use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly not?: Schema;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** One of the possible types of a value. `shape` is the name of a shared schema of the document. */
export interface FieldType {
  readonly text: string;
  readonly shape?: string;
}

export interface FieldRow {
  /** Path of the field: `session.audio.input`, `content[].text`. */
  readonly name: string;
  readonly isRequired: boolean;
  /** Possible types. */
  readonly type: readonly FieldType[];
  /** Description and allowed values, in Markdown. */
  readonly about: string;
}

/** The last segment of a reference. */
export function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** The fields of a schema. @param within path of the object. */
export function fieldRows(schema: Schema, within = ''): readonly FieldRow[] {
  return objectsIn(schema, within).flatMap(({ object, name }) =>
    Object.entries(object.properties ?? {}).flatMap(([key, field]) => {
      const own = name === '' ? key : `${name}.${key}`;
      const isRequired = object.required?.includes(key) ?? false;
      return [
        { name: own, isRequired, type: typesOf(field), about: aboutOf(field) },
        ...fieldRows(field, own),
      ];
    }),
  );
}

/** The objects that a value can be or contain, each with the path of its fields. */
function objectsIn(schema: Schema, name: string): readonly { object: Schema; name: string }[] {
  if (schema.items !== undefined) return objectsIn(schema.items, `${name}[]`);
  if (schema.anyOf === undefined) return schema.properties === undefined ? [] : [{ object: schema, name }];
  const variants = schema.anyOf.filter(({ properties }) => properties !== undefined);
  return schema.anyOf.flatMap((variant) =>
    objectsIn(variant, variants.length > 1 ? `${name}${variantName(variant)}` : name),
  );
}

/** The constants that distinguish a variant from the others. */
function variantName({ properties = {} }: Schema): string {
  const fixed = [properties.type, properties.role].flatMap((field) =>
    typeof field?.const === 'string' ? field.const : [],
  );
  return fixed.length === 0 ? '' : `(${fixed.join(', ')})`;
}

function typesOf(schema: Schema): readonly FieldType[] {
  const { $ref, anyOf, items, type } = schema;
  if ($ref !== undefined) {
    const shape = nameOf($ref);
    return [{ text: shape, shape }];
  }
  if (anyOf !== undefined) {
    const all = anyOf.flatMap(typesOf);
    return all.filter(({ text }, index) => all.findIndex((other) => other.text === text) === index);
  }
  if ('const' in schema) return [{ text: JSON.stringify(schema.const) }];
  if (schema.enum !== undefined) return schema.enum.map((value) => ({ text: JSON.stringify(value) }));
  if (items !== undefined) return typesOf(items).map(({ text, ...more }) => ({ text: `${text}[]`, ...more }));
  if (schema.not !== undefined) return [{ text: 'nothing' }];
  return [{ text: type ?? 'any' }];
}

function aboutOf(schema: Schema): string {
  const { description, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const inner = schema.anyOf?.map(aboutOf).filter((text) => text !== '') ?? [];
  return [
    description,
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' entries'),
    'default' in schema ? `Default: \`${JSON.stringify(schema.default)}\`.` : undefined,
    ...new Set(inner),
  ]
    .filter((text) => text !== undefined)
    .join(' ');
}

function range(min: number | undefined, max: number | undefined, unit: string): string | undefined {
  if (min === undefined && max === undefined) return undefined;
  if (max === undefined) return `At least ${min}${unit}.`;
  return min === undefined ? `At most ${max}${unit}.` : `${min} to ${max}${unit}.`;
}
