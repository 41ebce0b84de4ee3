/** Moves schemas of an OpenAPI document to named components and declares free-form objects, for client generators. */

import { isRecord } from '../../kit/validation/is-record.ts';

/** Keywords whose content is a value rather than a schema. */
const VALUES: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'const', 'enum']);

/**
 * Extracts every schema with a `title` from a part of the document.
 * @returns a copy of the part with references, and the schemas by name (`New voice` becomes `NewVoice`). If two different
 *   schemas have the same title, the second one stays inline.
 */
export function namedSchemas<Part>(part: Part): { value: Part; schemas: Record<string, unknown> } {
  const schemas: Record<string, unknown> = {};
  const texts = new Map<string, string>();
  const extract = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(extract);
    if (!isRecord(value)) return value;
    const schema = withOpenProperties(
      Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, VALUES.has(key) ? inner : extract(inner)]),
      ),
    );
    if (typeof value.title !== 'string') return schema;
    const name = nameOf(value.title);
    const text = JSON.stringify(schema);
    if ((texts.get(name) ?? text) !== text) return schema;
    texts.set(name, text);
    schemas[name] ??= schema;
    return { $ref: `#/components/schemas/${name}` };
  };
  return { value: extract(part) as Part, schemas };
}

function nameOf(title: string): string {
  return title.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());
}

/** Client generators treat an object without `properties` as empty and do not support `patternProperties`. */
function withOpenProperties(schema: Record<string, unknown>): Record<string, unknown> {
  const { properties, patternProperties, ...rest } = schema;
  if (isRecord(patternProperties) && properties === undefined) {
    const { '^(.*)$': every, ...more } = patternProperties;
    if (every !== undefined && Object.keys(more).length === 0)
      return { ...rest, additionalProperties: every };
  }
  const isEmpty = isRecord(properties) && Object.keys(properties).length === 0;
  if (schema.type === 'object' && isEmpty && !('additionalProperties' in schema))
    return { ...rest, additionalProperties: true };
  return schema;
}
