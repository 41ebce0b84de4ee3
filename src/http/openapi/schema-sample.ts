/** The JSON Schema keywords that the routes use. */
export interface SampledSchema {
  readonly examples?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SampledSchema[];
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SampledSchema>>;
  readonly required?: readonly string[];
  readonly items?: SampledSchema;
  readonly minimum?: number;
}

/**
 * Generates an example value for a schema: its first example, else its constant or default, else the smallest value of its
 * type. Objects contain only the required fields; nullable values are null.
 */
export function sampleOf(schema: SampledSchema): unknown {
  if (schema.examples !== undefined) return schema.examples[0];
  if ('const' in schema) return schema.const;
  if ('default' in schema) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) {
    const branch = schema.anyOf.find(({ type }) => type === 'null') ?? schema.anyOf[0];
    return branch && sampleOf(branch);
  }
  switch (schema.type) {
    case 'object': {
      const { required = [], properties = {} } = schema;
      return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
    }
    case 'array':
      return schema.items === undefined ? [] : [sampleOf(schema.items)];
    case 'string':
      return '';
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return false;
    default:
      return null;
  }
}
