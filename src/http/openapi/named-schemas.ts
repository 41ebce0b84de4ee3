/** Schemas of an OpenAPI document as those who generate clients from it want them: under names, and open where they are open. */

import { isRecord } from '../../kit/validation/is-record.ts';

/** What holds values and not schemas. */
const VALUES: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'const', 'enum']);

/**
 * Takes every schema with a `title` out of a part of the document.
 * @returns the part with references in their place, and the schemas by their names: `New voice` is `NewVoice`. Of two that
 *   differ and have the same title, the second stays where it is. The argument is left as it was.
 */
export function namedSchemas<Part>(part: Part): { value: Part; schemas: Record<string, unknown> } {
  const schemas: Record<string, unknown> = {};
  const texts = new Map<string, string>();
  const without = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(without);
    if (!isRecord(value)) return value;
    const schema = opened(
      Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, VALUES.has(key) ? inner : without(inner)]),
      ),
    );
    if (typeof value.title !== 'string') return schema;
    const name = nameOf(value.title);
    // The framework writes fields in another order, and says of an answer what its schema says of itself.
    const text = JSON.stringify({ ...schema, description: undefined }, inOrder);
    if ((texts.get(name) ?? text) !== text) return schema;
    texts.set(name, text);
    schemas[name] ??= schema;
    return { $ref: `#/components/schemas/${name}` };
  };
  return { value: without(part) as Part, schemas };
}

function inOrder(_: string, value: unknown): unknown {
  return isRecord(value) ? Object.fromEntries(Object.entries(value).sort()) : value;
}

function nameOf(title: string): string {
  return title.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());
}

/** Generators take an object without named fields for one that has none at all, and do not know patterns of names. */
function opened(schema: Record<string, unknown>): Record<string, unknown> {
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
