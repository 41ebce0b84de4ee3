import type { JsonSchema } from '../../contract/text.ts';
import { list, record } from './schema-merge.ts';

/** Whether no value can be valid against two of the schemas, as far as their types and fixed members tell. */
export function areDisjoint(schemas: readonly (JsonSchema | true)[]): boolean {
  return schemas.every((a, i) => schemas.slice(i + 1).every((b) => a !== true && b !== true && differ(a, b)));
}

function differ(a: JsonSchema, b: JsonSchema): boolean {
  const [valuesA, valuesB] = [values(a), values(b)];
  if (valuesA !== undefined && valuesB !== undefined)
    return valuesA.every((value) => !valuesB.includes(value));
  const [typesA, typesB] = [types(a), types(b)];
  if (typesA.length > 0 && typesB.length > 0 && typesA.every((type) => !typesB.includes(type))) return true;
  const [membersA, membersB] = [record(a.properties), record(b.properties)];
  const required = new Set([...list(a.required), ...list(b.required)]);
  return [...required].some((name) => {
    const both = typeof name === 'string' && Object.hasOwn(membersA, name) && Object.hasOwn(membersB, name);
    return both && differ(record(membersA[name]), record(membersB[name]));
  });
}

/** The values that a schema names, as JSON. */
function values(schema: JsonSchema): string[] | undefined {
  if ('const' in schema) return [JSON.stringify(schema.const)];
  return Array.isArray(schema.enum) ? schema.enum.map((value) => JSON.stringify(value)) : undefined;
}

function types(schema: JsonSchema): unknown[] {
  return list(schema.type).map((type) => (type === 'integer' ? 'number' : type));
}
