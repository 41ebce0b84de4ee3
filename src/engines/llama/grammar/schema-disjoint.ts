import type { JsonSchema } from '../../../contract/engines/text.ts';
import { type CountSteps, list, record, valueText } from './schema-merge.ts';

/**
 * Whether the schemas are mutually exclusive according to their types and constant members.
 * @throws the error of `countSteps` when the work limit is exceeded.
 */
export function areDisjoint(schemas: readonly (JsonSchema | true)[], countSteps: CountSteps): boolean {
  if (schemas.includes(true)) return false;
  const all = schemas.map(record);
  const [named, others] = [all.filter(isNamed), all.filter((schema) => !isNamed(schema))];
  if (!nameDifferentValues(named, countSteps)) return false;
  // Avoids the comparison of all pairs.
  if (named.length === 0 && haveKey(others, countSteps)) return true;
  return others.every((a, i) =>
    [...named, ...others.slice(i + 1)].every((b) => {
      countSteps(1);
      return haveDifferentTypes(a, b) || differInMember(a, b, countSteps);
    }),
  );
}

/** Whether a schema lists its values. */
function isNamed(schema: JsonSchema): boolean {
  return 'const' in schema || Array.isArray(schema.enum);
}

function namedValues(schema: JsonSchema): readonly unknown[] {
  return 'const' in schema ? [schema.const] : list(schema.enum);
}

function nameDifferentValues(schemas: readonly JsonSchema[], countSteps: CountSteps): boolean {
  const texts = schemas.map(
    (schema) => new Set(namedValues(schema).map((value) => valueText(value, countSteps))),
  );
  const all = new Set(texts.flatMap((each) => [...each]));
  return all.size === texts.reduce((sum, { size }) => sum + size, 0);
}

/** Whether a member that is required in all schemas has different values in each. */
function haveKey(schemas: readonly JsonSchema[], countSteps: CountSteps): boolean {
  const [first = {}] = schemas;
  return list(first.required).some((name) => {
    const members = schemas.flatMap((schema) => {
      countSteps(1 + list(schema.required).length);
      const member = list(schema.required).includes(name) ? memberOf(schema, name) : undefined;
      return member !== undefined && isNamed(member) ? [member] : [];
    });
    return members.length === schemas.length && nameDifferentValues(members, countSteps);
  });
}

function differInMember(a: JsonSchema, b: JsonSchema, countSteps: CountSteps): boolean {
  countSteps(list(a.required).length + list(b.required).length);
  return [...new Set([...list(a.required), ...list(b.required)])].some((name) => {
    const [memberA, memberB] = [memberOf(a, name), memberOf(b, name)];
    return memberA !== undefined && memberB !== undefined && areDisjoint([memberA, memberB], countSteps);
  });
}

/** The schema of a member; undefined if there is none. */
function memberOf(schema: JsonSchema, name: unknown): JsonSchema | undefined {
  const members = record(schema.properties);
  return typeof name === 'string' && Object.hasOwn(members, name) ? record(members[name]) : undefined;
}

function haveDifferentTypes(a: JsonSchema, b: JsonSchema): boolean {
  const [typesA, typesB] = [types(a), types(b)];
  return typesA.size > 0 && typesB.size > 0 && typesA.isDisjointFrom(typesB);
}

/** Types that a schema allows; empty if it does not constrain them. */
function types(schema: JsonSchema): ReadonlySet<unknown> {
  return new Set(list(schema.type).map((type) => (type === 'integer' ? 'number' : type)));
}
