import { isRecord } from '../../kit/validation/is-record.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Keywords that describe a schema and restrict nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
]);

/**
 * The schema of a JSON request body in which null means absent, as it is validated: fields that are not required are
 * nullable. Only the fields of the body itself count, since nested objects are validated as they are.
 */
export function nullableFields(schema: Schema): Schema {
  const { properties = {}, required = [] } = schema;
  if (!isRecord(properties) || !Array.isArray(required)) return schema;
  const fields = Object.entries(properties).map(([name, field]) => {
    return [name, required.includes(name) || !isRecord(field) ? field : nullable(field)];
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}

function nullable(schema: Schema): Schema {
  const entries = Object.entries(schema);
  const annotations = Object.fromEntries(entries.filter(([key]) => ANNOTATIONS.has(key)));
  const rules = Object.fromEntries(entries.filter(([key]) => !ANNOTATIONS.has(key)));
  const branches = Array.isArray(rules.anyOf) && Object.keys(rules).length === 1 ? rules.anyOf : [rules];
  if (Object.keys(rules).length === 0 || branches.some(allowsNull)) return schema;
  return { anyOf: [...branches, { type: 'null' }], ...annotations };
}

function allowsNull(branch: unknown): boolean {
  return isRecord(branch) && branch.type === 'null';
}
