import type { JsonSchema } from '../../../contract/engines/text.ts';
import { type Look, list, record, valueText } from './schema-merge.ts';

/**
 * Whether no value can be valid against two of the schemas, as far as their types and fixed members tell.
 * @throws what `look` throws when there is too much to compare.
 */
export function areDisjoint(schemas: readonly (JsonSchema | true)[], look: Look): boolean {
  if (schemas.includes(true)) return false;
  const all = schemas.map(record);
  const [named, others] = [all.filter(isNamed), all.filter((schema) => !isNamed(schema))];
  if (!nameDifferentValues(named, look)) return false;
  // Only then they need not be compared two by two.
  if (named.length === 0 && haveKey(others, look)) return true;
  return others.every((a, i) =>
    [...named, ...others.slice(i + 1)].every((b) => {
      look(1);
      return haveDifferentTypes(a, b) || differInMember(a, b, look);
    }),
  );
}

/** Whether a schema names its values. */
function isNamed(schema: JsonSchema): boolean {
  return 'const' in schema || Array.isArray(schema.enum);
}

function namedValues(schema: JsonSchema): readonly unknown[] {
  return 'const' in schema ? [schema.const] : list(schema.enum);
}

function nameDifferentValues(schemas: readonly JsonSchema[], look: Look): boolean {
  const texts = schemas.map((schema) => new Set(namedValues(schema).map((value) => valueText(value, look))));
  const all = new Set(texts.flatMap((each) => [...each]));
  return all.size === texts.reduce((sum, { size }) => sum + size, 0);
}

/** Whether one member that all of them must have names other values in each. */
function haveKey(schemas: readonly JsonSchema[], look: Look): boolean {
  const [first = {}] = schemas;
  return list(first.required).some((name) => {
    const members = schemas.flatMap((schema) => {
      look(1 + list(schema.required).length);
      const member = list(schema.required).includes(name) ? memberOf(schema, name) : undefined;
      return member !== undefined && isNamed(member) ? [member] : [];
    });
    return members.length === schemas.length && nameDifferentValues(members, look);
  });
}

function differInMember(a: JsonSchema, b: JsonSchema, look: Look): boolean {
  look(list(a.required).length + list(b.required).length);
  return [...new Set([...list(a.required), ...list(b.required)])].some((name) => {
    const [memberA, memberB] = [memberOf(a, name), memberOf(b, name)];
    return memberA !== undefined && memberB !== undefined && areDisjoint([memberA, memberB], look);
  });
}

/** The schema of a member; undefined when nothing is said of it. */
function memberOf(schema: JsonSchema, name: unknown): JsonSchema | undefined {
  const members = record(schema.properties);
  return typeof name === 'string' && Object.hasOwn(members, name) ? record(members[name]) : undefined;
}

function haveDifferentTypes(a: JsonSchema, b: JsonSchema): boolean {
  const [typesA, typesB] = [types(a), types(b)];
  return typesA.size > 0 && typesB.size > 0 && typesA.isDisjointFrom(typesB);
}

/** Types that a schema allows; none when it says nothing of them. */
function types(schema: JsonSchema): ReadonlySet<unknown> {
  return new Set(list(schema.type).map((type) => (type === 'integer' ? 'number' : type)));
}
