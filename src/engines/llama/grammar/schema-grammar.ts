/**
 * Converts JSON Schema to a grammar whose output is valid against the schema, without whitespace. The grammar may allow less
 * than the schema: it produces only named properties if there are any, and numbers without exponent
 * (docs/decisions/language-models.md).
 */

import { invalidRequest } from '../../../contract/core/error.ts';
import type { JsonSchema } from '../../../contract/engines/text.ts';
import { type Grammar, jsonLiteral, listOf, MAX_LISTED, times } from './grammar.ts';
import { numberRule } from './number-grammar.ts';
import { areDisjoint } from './schema-disjoint.ts';
import { ANNOTATIONS, countOf, list, mergeSchemas, record, UnsupportedSchemaError } from './schema-merge.ts';
import { stringRule } from './string-grammar.ts';

/** Maximum length of a schema as JSON, because its branches are compared on the server thread. */
const MAX_SCHEMA_CHARACTERS = 120_000;

/** Keywords by the type of the values to which they apply. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  object: [
    ...['properties', 'required', 'additionalProperties', 'unevaluatedProperties'],
    ...['minProperties', 'maxProperties'],
  ],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};
const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** Keywords that a grammar cannot express, or not without much effort. */
const UNSUPPORTED_KEYWORDS = [
  ...[
    'not',
    'if',
    'then',
    'else',
    'dependentSchemas',
    'dependentRequired',
    'dependencies',
    'patternProperties',
  ],
  ...[
    'propertyNames',
    'contains',
    'minContains',
    'maxContains',
    'unevaluatedItems',
    '$dynamicRef',
    '$recursiveRef',
  ],
];
/** Maximum number of enum values, choices and properties of a schema: each may be checked for each token. */
const MAX_CHOICES = 1000;
/** Maximum number of schemas in `allOf`. */
const MAX_PARTS = 256;
const MAX_DEPTH = 64;
/** Maximum length of a path in an error message. */
const MAX_PATH_LENGTH = 200;

type Schema = JsonSchema | boolean;
type SchemaPath = readonly (string | number)[];

/**
 * Adds the rule of a schema.
 * @param param request field for errors.
 * @param root schema to which `#` in references resolves.
 * @throws ServiceError `invalid_request` with the unsupported keyword.
 */
export function schemaRule(grammar: Grammar, schema: Schema, param: string, root: Schema = schema): string {
  if (JSON.stringify(root).length > MAX_SCHEMA_CHARACTERS) {
    const message = `The JSON Schema is not supported by this model: it exceeds ${MAX_SCHEMA_CHARACTERS} characters.`;
    throw invalidRequest(message, param, 'unsupported_value');
  }
  try {
    const rule = new SchemaReader(grammar, root).rule(schema, [], 0);
    grammar.checkLeftRecursion();
    return rule;
  } catch (error) {
    if (!(error instanceof UnsupportedSchemaError)) throw error;
    const message = `The JSON Schema is not supported by this model: ${error.message}.`;
    throw invalidRequest(message, param, 'unsupported_value');
  }
}

/** Converts one schema and its references. */
class SchemaReader {
  readonly #grammar: Grammar;
  readonly #root: Schema;
  /** Rules of referenced schemas. */
  readonly #references = new Map<string, string>();
  /** Referenced schemas. */
  readonly #resolved = new Map<string, Schema>();
  readonly #countSteps = (count: number) => this.#grammar.countSteps(count);
  #choices = 0;

  constructor(grammar: Grammar, root: Schema) {
    this.#grammar = grammar;
    this.#root = root;
  }

  /** The rule of a schema at a path. */
  rule(schema: Schema, path: SchemaPath, depth: number): string {
    this.#visit(schema, path);
    if (schema === true) return 'value';
    if (schema === false) throw this.#issue(path, 'no value is valid');
    if (depth > MAX_DEPTH) throw this.#issue(path, `nesting deeper than ${MAX_DEPTH} levels`);
    const constraints = Object.keys(schema).filter((keyword) => !ANNOTATIONS.has(keyword));
    if (typeof schema.$ref === 'string' && constraints.length === 1)
      return this.#reference(schema.$ref, path, depth);
    const whole = this.#whole(schema, path, depth);
    if (whole === true) return 'value';
    const choices = whole.oneOf ?? whole.anyOf;
    if (choices !== undefined) return this.#choice(whole, path, depth);
    return this.#plain(whole, path, depth);
  }

  #reference(reference: string, path: SchemaPath, depth: number): string {
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    const rule = this.#grammar.reserve('ref');
    this.#references.set(reference, rule);
    const target = this.rule(this.#resolve(reference, path), [reference], depth + 1);
    this.#grammar.define(rule, target, [target]);
    return rule;
  }

  #resolve(reference: string, path: SchemaPath): Schema {
    const found = this.#resolved.get(reference) ?? this.#find(reference, path);
    this.#resolved.set(reference, found);
    return found;
  }

  #find(reference: string, path: SchemaPath): Schema {
    if (!/^#(\/|$)/.test(reference)) throw this.#issue(path, "'$ref' outside the schema");
    let found: unknown = this.#root;
    for (const step of reference.slice(1).split('/').slice(1)) {
      const key = decodedStep(step).replaceAll('~1', '/').replaceAll('~0', '~');
      const within = (Array.isArray(found) ? found : record(found)) as Readonly<Record<string, unknown>>;
      found = Object.hasOwn(within, key) ? within[key] : undefined;
    }
    if (typeof found === 'boolean') return found;
    if (typeof found !== 'object' || found === null || Array.isArray(found)) {
      throw this.#issue(path, "'$ref' to a missing schema");
    }
    return record(found);
  }

  /** Merges a schema with its `$ref` and `allOf`. */
  #whole(schema: Schema, path: SchemaPath, depth: number): JsonSchema | true {
    this.#visit(schema, path);
    if (schema === true) return true;
    if (schema === false) throw this.#issue(path, 'no value is valid');
    if (depth > MAX_DEPTH)
      throw this.#issue(path, `'$ref' and 'allOf' nested deeper than ${MAX_DEPTH} levels`);
    const { $ref, allOf, ...rest } = schema;
    const parts = [...list(allOf)] as Schema[];
    if (parts.length > MAX_PARTS) throw this.#issue(path, `'allOf' with more than ${MAX_PARTS} schemas`);
    if (typeof $ref === 'string') parts.push(this.#resolve($ref, path));
    return parts.reduce<JsonSchema>((sum, part) => {
      const whole = this.#whole(part, path, depth + 1);
      if (whole === true) return sum;
      return this.#at(path, () => mergeSchemas(sum, whole, this.#countSteps));
    }, rest);
  }

  #choice(schema: JsonSchema, path: SchemaPath, depth: number): string {
    const { anyOf, oneOf, ...base } = schema;
    if (anyOf !== undefined && oneOf !== undefined) throw this.#issue(path, "'anyOf' combined with 'oneOf'");
    const keyword = oneOf === undefined ? 'anyOf' : 'oneOf';
    const choices = list(oneOf ?? anyOf) as Schema[];
    const constraints = Object.keys(base).some((each) => !ANNOTATIONS.has(each));
    const wholes = choices.filter((choice) => choice !== false);
    this.#countChoices(wholes.length);
    if (wholes.length === 0) throw this.#issue(path, `empty '${keyword}'`);
    if (oneOf !== undefined) {
      const all = wholes.map((choice, i) => this.#whole(choice, [...path, keyword, i], depth + 1));
      if (!this.#at(path, () => areDisjoint(all, this.#countSteps)))
        throw this.#issue(path, "'oneOf' with schemas that are not mutually exclusive");
    }
    const rules = wholes.map((choice, i) => {
      const at = [...path, keyword, i];
      if (!constraints) return this.rule(choice, at, depth + 1);
      return this.rule({ allOf: [base, choice] }, at, depth + 1);
    });
    return this.#grammar.add('choice', rules.join(' | '), rules);
  }

  /** The rule of a schema without references and choices. */
  #plain(schema: JsonSchema, path: SchemaPath, depth: number): string {
    const unsupported = UNSUPPORTED_KEYWORDS.find((keyword) => schema[keyword] !== undefined);
    if (unsupported !== undefined) throw this.#issue(path, `'${unsupported}'`);
    const types = this.#types(schema, path);
    if ('const' in schema) return this.#values([schema.const], schema, types, path);
    if (Array.isArray(schema.enum)) return this.#values(schema.enum, schema, types, path);
    if (types.length === 0) return 'value';
    const rules = types.map((type) => this.#typed(type, schema, path, depth));
    return rules.length === 1 ? (rules[0] ?? '') : this.#grammar.add('types', rules.join(' | '), rules);
  }

  /** Allowed types; an empty list means any type. */
  #types(schema: JsonSchema, path: SchemaPath): string[] {
    if (schema.type === undefined) {
      return Object.keys(KEYWORDS).filter((type) => KEYWORDS[type]?.some((keyword) => keyword in schema));
    }
    if (list(schema.type).length > TYPES.length) throw this.#issue(path, "duplicate 'type'");
    const types = list(schema.type).filter(
      (type) => typeof type === 'string' && TYPES.includes(type),
    ) as string[];
    if (types.length < list(schema.type).length) throw this.#issue(path, "unknown 'type'");
    if (types.length === 0) throw this.#issue(path, 'no common type');
    return types.includes('number') ? types.filter((type) => type !== 'integer') : types;
  }

  #values(
    values: readonly unknown[],
    schema: JsonSchema,
    types: readonly string[],
    path: SchemaPath,
  ): string {
    const conflicting = Object.values(KEYWORDS)
      .flat()
      .find((keyword) => keyword in schema);
    if (conflicting !== undefined)
      throw this.#issue(path, `'${conflicting}' combined with 'enum' or 'const'`);
    if ('const' in schema && 'enum' in schema) throw this.#issue(path, "'enum' combined with 'const'");
    const valid = values.filter((value) => types.length === 0 || types.some((type) => hasType(value, type)));
    this.#countChoices(valid.length);
    if (valid.length === 0) throw this.#issue(path, "'enum' without a valid value");
    return this.#grammar.add('enum', valid.map((value) => jsonLiteral(value)).join(' | '));
  }

  #typed(type: string, schema: JsonSchema, path: SchemaPath, depth: number): string {
    switch (type) {
      case 'object':
        return this.#object(schema, path, depth);
      case 'array':
        return this.#array(schema, path, depth);
      case 'string':
        return this.#at(path, () => stringRule(this.#grammar, schema));
      case 'integer':
      case 'number':
        return this.#at(path, () => numberRule(this.#grammar, type, schema));
      default:
        return type;
    }
  }

  #object(schema: JsonSchema, path: SchemaPath, depth: number): string {
    const more = schema.additionalProperties ?? schema.unevaluatedProperties ?? true;
    const required = new Set(list(schema.required));
    this.#countChoices(required.size + Object.keys(record(schema.properties)).length);
    const properties = record(schema.properties);
    const named = Object.entries(properties).filter(
      ([name, each]) => each !== false || required.has(name),
    ) as [string, Schema][];
    for (const name of required) {
      if (typeof name !== 'string') throw this.#issue(path, "'required' with an item that is not a string");
      if (!Object.hasOwn(properties, name)) named.push([name, more as Schema]);
    }
    const atLeast = this.#at(path, () => countOf(schema, 'minProperties', 0));
    const atMost = this.#at(path, () => countOf(schema, 'maxProperties', Number.POSITIVE_INFINITY));
    if (required.size > atMost) throw this.#issue(path, "more 'required' properties than 'maxProperties'");
    if (named.length === 0) return this.#map(more as Schema, atLeast, atMost, path, depth);
    // Optional properties are written only if the maximum allows all of them.
    const written = named.length > atMost ? named.filter(([name]) => required.has(name)) : named;
    const always = atLeast > required.size ? new Set(written.map(([name]) => name)) : required;
    if (atLeast > written.length) throw this.#issue(path, "'minProperties' above the number of properties");
    const members = written.map(([name, each]) => ({
      rule: `${jsonLiteral(name)} ":" ${this.rule(each, [...path, 'properties', name], depth + 1)}`,
      optional: !always.has(name),
    }));
    return this.#grammar.add('object', `"{" ${this.#members(members)} "}"`);
  }

  /** Members in their order, separated by commas. */
  #members(members: readonly { readonly rule: string; readonly optional: boolean }[]): string {
    // Built backwards: `rest` follows a written member, `first` applies if none is written yet.
    let rest = '';
    let first = '';
    for (const { rule, optional } of members.toReversed()) {
      if (optional) {
        first = this.#grammar.add(
          'first',
          first === '' ? `(${rule} ${rest})?` : `${rule} ${rest} | ${first}`,
        );
        rest = this.#grammar.add('rest', `("," ${rule})? ${rest}`);
      } else {
        first = this.#grammar.add('first', `${rule} ${rest}`);
        rest = this.#grammar.add('rest', `"," ${rule} ${rest}`);
      }
    }
    return first;
  }

  /** An object with arbitrary names. */
  #map(more: Schema, atLeast: number, atMost: number, path: SchemaPath, depth: number): string {
    // Names may repeat, so a minimum cannot be guaranteed.
    if (atLeast > 1) throw this.#issue(path, "'minProperties' without 'properties'");
    if (more === false || atMost === 0) {
      if (atLeast > 0) throw this.#issue(path, 'no value is valid');
      return this.#grammar.add('object', '"{}"');
    }
    if (more === true && atLeast === 0 && atMost === Number.POSITIVE_INFINITY) return 'object';
    const value = this.rule(more, [...path, 'additionalProperties'], depth + 1);
    const member = this.#grammar.add('member', `string ":" ${value}`);
    return this.#grammar.add('object', `"{" ${listOf(this.#grammar, member, atLeast, atMost)} "}"`);
  }

  #array(schema: JsonSchema, path: SchemaPath, depth: number): string {
    // Older drafts use an array in `items` instead of `prefixItems`, and `additionalItems`.
    const older = Array.isArray(schema.items);
    const first = list(older ? schema.items : schema.prefixItems) as Schema[];
    const after = older ? schema.additionalItems : schema.items;
    const more = (after ?? true) as Schema;
    const atLeast = this.#at(path, () => countOf(schema, 'minItems', 0));
    const atMost = this.#at(path, () => countOf(schema, 'maxItems', Number.POSITIVE_INFINITY));
    if (schema.uniqueItems === true && atMost > 1) throw this.#issue(path, "'uniqueItems'");
    if (atLeast > atMost) throw this.#issue(path, "'minItems' above 'maxItems'");
    if (atLeast > MAX_LISTED) throw this.#issue(path, `'minItems' above ${MAX_LISTED}`);
    const fixed = first.slice(0, Math.min(first.length, atMost));
    const rules = fixed.map((each, i) => this.rule(each, [...path, 'prefixItems', i], depth + 1));
    const missing = Math.max(0, atLeast - fixed.length);
    if (more === false || (first.length > 0 && after === undefined && missing === 0)) {
      if (missing > 0) throw this.#issue(path, "'minItems' above the number of items");
      return this.#grammar.add('array', `"[" ${rules.join(' "," ')} "]"`);
    }
    if (atMost === 0) return this.#grammar.add('array', '"[]"');
    const item = this.rule(more, [...path, 'items'], depth + 1);
    const left = atMost - fixed.length;
    const room = left === Number.POSITIVE_INFINITY ? left : Math.min(left, MAX_LISTED);
    if (rules.length === 0)
      return this.#grammar.add('array', `"[" ${listOf(this.#grammar, item, atLeast, atMost)} "]"`);
    const tail = room > 0 ? `("," ${item})${times(missing, room)}` : '';
    return this.#grammar.add('array', `"[" ${rules.join(' "," ')} ${tail} "]"`);
  }

  #countChoices(count: number): void {
    this.#choices += count;
    if (this.#choices <= MAX_CHOICES) return;
    throw new UnsupportedSchemaError(`more than ${MAX_CHOICES} enum values, choices and properties in total`);
  }

  /** Counts a visited schema, because references may expand without an end. */
  #visit(schema: unknown, path: SchemaPath): void {
    this.#grammar.countSteps(1);
    if (
      typeof schema !== 'boolean' &&
      (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    ) {
      throw this.#issue(path, 'not a schema');
    }
    this.#grammar.countSteps(Object.keys(schema).length);
  }

  /** Runs a function and adds the path to its validation issues. */
  #at<T>(path: SchemaPath, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw error instanceof UnsupportedSchemaError ? this.#issue(path, error.message) : error;
    }
  }

  #issue(path: SchemaPath, what: string): UnsupportedSchemaError {
    const at = path.length === 0 ? 'at the top level' : `at ${path.join('/').slice(0, MAX_PATH_LENGTH)}`;
    return new UnsupportedSchemaError(`${what} (${at})`);
  }
}

/** Decodes a step of a JSON pointer in a URI fragment. Invalid encodings are left as they are. */
function decodedStep(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
