/** Schemas that several messages of an AsyncAPI document share: each is written once, and referred to. */

export class SharedSchemas {
  readonly #schemas: Readonly<Record<string, unknown>>;
  /** By the schema as JSON. */
  readonly #names: ReadonlyMap<string, string>;

  /** @param schemas by their names in the document. */
  constructor(schemas: Readonly<Record<string, unknown>>) {
    this.#schemas = schemas;
    this.#names = new Map(Object.entries(schemas).map(([name, schema]) => [JSON.stringify(schema), name]));
  }

  /** The schemas as plain JSON, for `components.schemas`. */
  definitions(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      Object.entries(this.#schemas).map(([name, schema]) => [name, this.withReferences(plain(schema), name)]),
    );
  }

  /** Replaces shared schemas in a schema by references. @param except name that is not replaced. */
  withReferences(schema: unknown, except?: string): unknown {
    if (typeof schema !== 'object' || schema === null) return schema;
    const name = this.#names.get(JSON.stringify(schema));
    if (name !== undefined && name !== except) return { $ref: `#/components/schemas/${name}` };
    if (Array.isArray(schema)) return schema.map((entry) => this.withReferences(entry));
    return Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, this.withReferences(value)]),
    );
  }
}

/** Converts a schema to plain JSON, without the symbols of the validator. */
export function plain(schema: unknown): unknown {
  if (schema === undefined) throw new Error('An event has a description but no schema.');
  return JSON.parse(JSON.stringify(schema));
}
