/**
 * JSON Schema as grammar: what it writes is valid against the schema, without a space between tokens. The grammar
 * may allow less than the schema: properties that it does not name are not written beside those that it names,
 * numbers have no exponent (docs/decisions/language-models.md).
 */

import { invalidRequest } from '../../../contract/core/error.ts';
import type { JsonSchema } from '../../../contract/engines/text.ts';
import { type Grammar, jsonLiteral, listOf, MAX_LISTED, times } from './grammar.ts';
import { numberRule } from './number-grammar.ts';
import { areDisjoint } from './schema-disjoint.ts';
import { ANNOTATIONS, countOf, list, mergeSchemas, record, ValidationIssue } from './schema-merge.ts';
import { stringRule } from './string-grammar.ts';

/** Longest schema that is read, as JSON: its branches are compared with each other on the serving thread. */
const MAX_SCHEMA_CHARACTERS = 120_000;

/** Keywords by the type of the values that they are about. */
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
/** Keywords of the drafts that ask for what a grammar cannot do, or not simply. */
const REFUSED = [
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
/** Values of enums, choices and properties of one schema together: each may have to be looked at for each token. */
const MAX_CHOICES = 1000;
/** Schemas of which a value must be valid against each. */
const MAX_PARTS = 256;
const MAX_DEPTH = 64;
/** Characters of a place in a message. */
const MAX_PLACE = 200;

type Schema = JsonSchema | boolean;
type Place = readonly (string | number)[];

/**
 * Adds what is valid against a schema.
 * @param param the field that errors name.
 * @param root what `#` means in its references.
 * @throws ServiceError `invalid_request` that names what of the schema cannot be had.
 */
export function schemaRule(grammar: Grammar, schema: Schema, param: string, root: Schema = schema): string {
  if (JSON.stringify(root).length > MAX_SCHEMA_CHARACTERS) {
    const message = `The JSON Schema cannot be followed by this model: it is too large, with more than ${MAX_SCHEMA_CHARACTERS} characters.`;
    throw invalidRequest(message, param, 'unsupported_value');
  }
  try {
    const rule = new SchemaReader(grammar, root).rule(schema, [], 0);
    grammar.checkBegins();
    return rule;
  } catch (error) {
    if (!(error instanceof ValidationIssue)) throw error;
    const message = `The JSON Schema cannot be followed by this model: ${error.message}.`;
    throw invalidRequest(message, param, 'unsupported_value');
  }
}

/** Reads one schema with its references. */
class SchemaReader {
  readonly #grammar: Grammar;
  readonly #root: Schema;
  /** Rules of what references name. */
  readonly #references = new Map<string, string>();
  /** What references name. */
  readonly #resolved = new Map<string, Schema>();
  readonly #look = (count: number) => this.#grammar.look(count);
  #choices = 0;

  constructor(grammar: Grammar, root: Schema) {
    this.#grammar = grammar;
    this.#root = root;
  }

  /** The rule of a schema that stands somewhere. */
  rule(schema: Schema, place: Place, depth: number): string {
    this.#visit(schema, place);
    if (schema === true) return 'value';
    if (schema === false) throw this.#fault(place, 'nothing is valid here');
    if (depth > MAX_DEPTH) throw this.#fault(place, `it is deeper than ${MAX_DEPTH}`);
    const asked = Object.keys(schema).filter((keyword) => !ANNOTATIONS.has(keyword));
    if (typeof schema.$ref === 'string' && asked.length === 1)
      return this.#reference(schema.$ref, place, depth);
    const whole = this.#whole(schema, place, depth);
    if (whole === true) return 'value';
    const choices = whole.oneOf ?? whole.anyOf;
    if (choices !== undefined) return this.#choice(whole, place, depth);
    return this.#plain(whole, place, depth);
  }

  #reference(reference: string, place: Place, depth: number): string {
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    const rule = this.#grammar.reserve('ref');
    this.#references.set(reference, rule);
    const target = this.rule(this.#resolve(reference, place), [reference], depth + 1);
    this.#grammar.define(rule, target, [target]);
    return rule;
  }

  #resolve(reference: string, place: Place): Schema {
    const found = this.#resolved.get(reference) ?? this.#find(reference, place);
    this.#resolved.set(reference, found);
    return found;
  }

  #find(reference: string, place: Place): Schema {
    if (!/^#(\/|$)/.test(reference)) throw this.#fault(place, "a '$ref' outside the schema");
    let found: unknown = this.#root;
    for (const step of reference.slice(1).split('/').slice(1)) {
      const key = decodedStep(step).replaceAll('~1', '/').replaceAll('~0', '~');
      const within = (Array.isArray(found) ? found : record(found)) as Readonly<Record<string, unknown>>;
      found = Object.hasOwn(within, key) ? within[key] : undefined;
    }
    if (typeof found === 'boolean') return found;
    if (typeof found !== 'object' || found === null || Array.isArray(found)) {
      throw this.#fault(place, "a '$ref' to what is not there");
    }
    return record(found);
  }

  /** A schema with everything that `$ref` and `allOf` add to it. */
  #whole(schema: Schema, place: Place, depth: number): JsonSchema | true {
    this.#visit(schema, place);
    if (schema === true) return true;
    if (schema === false) throw this.#fault(place, 'nothing is valid here');
    if (depth > MAX_DEPTH) throw this.#fault(place, `'$ref' and 'allOf' go deeper than ${MAX_DEPTH}`);
    const { $ref, allOf, ...rest } = schema;
    const parts = [...list(allOf)] as Schema[];
    if (parts.length > MAX_PARTS) throw this.#fault(place, `an 'allOf' of more than ${MAX_PARTS}`);
    if (typeof $ref === 'string') parts.push(this.#resolve($ref, place));
    return parts.reduce<JsonSchema>((sum, part) => {
      const whole = this.#whole(part, place, depth + 1);
      if (whole === true) return sum;
      return this.#at(place, () => mergeSchemas(sum, whole, this.#look));
    }, rest);
  }

  #choice(schema: JsonSchema, place: Place, depth: number): string {
    const { anyOf, oneOf, ...beside } = schema;
    if (anyOf !== undefined && oneOf !== undefined) throw this.#fault(place, "'anyOf' beside 'oneOf'");
    const keyword = oneOf === undefined ? 'anyOf' : 'oneOf';
    const choices = list(oneOf ?? anyOf) as Schema[];
    const asked = Object.keys(beside).some((each) => !ANNOTATIONS.has(each));
    const wholes = choices.filter((choice) => choice !== false);
    this.#countChoices(wholes.length);
    if (wholes.length === 0) throw this.#fault(place, `an empty '${keyword}'`);
    if (oneOf !== undefined) {
      const all = wholes.map((choice, i) => this.#whole(choice, [...place, keyword, i], depth + 1));
      if (!this.#at(place, () => areDisjoint(all, this.#look)))
        throw this.#fault(place, "a 'oneOf' of which a value may match several");
    }
    const rules = wholes.map((choice, i) => {
      const at = [...place, keyword, i];
      if (!asked) return this.rule(choice, at, depth + 1);
      return this.rule({ allOf: [beside, choice] }, at, depth + 1);
    });
    return this.#grammar.add('choice', rules.join(' | '), rules);
  }

  /** A schema without references and choices. */
  #plain(schema: JsonSchema, place: Place, depth: number): string {
    const refused = REFUSED.find((keyword) => schema[keyword] !== undefined);
    if (refused !== undefined) throw this.#fault(place, `'${refused}'`);
    const types = this.#types(schema, place);
    if ('const' in schema) return this.#values([schema.const], schema, types, place);
    if (Array.isArray(schema.enum)) return this.#values(schema.enum, schema, types, place);
    if (types.length === 0) return 'value';
    const rules = types.map((type) => this.#typed(type, schema, place, depth));
    return rules.length === 1 ? (rules[0] ?? '') : this.#grammar.add('types', rules.join(' | '), rules);
  }

  /** Types that a value may have; none means any. */
  #types(schema: JsonSchema, place: Place): string[] {
    if (schema.type === undefined) {
      return Object.keys(KEYWORDS).filter((type) => KEYWORDS[type]?.some((keyword) => keyword in schema));
    }
    if (list(schema.type).length > TYPES.length) throw this.#fault(place, "a 'type' that is named twice");
    const types = list(schema.type).filter(
      (type) => typeof type === 'string' && TYPES.includes(type),
    ) as string[];
    if (types.length < list(schema.type).length) throw this.#fault(place, "a 'type' that there is not");
    if (types.length === 0) throw this.#fault(place, 'no type is left');
    return types.includes('number') ? types.filter((type) => type !== 'integer') : types;
  }

  #values(values: readonly unknown[], schema: JsonSchema, types: readonly string[], place: Place): string {
    const beside = Object.values(KEYWORDS)
      .flat()
      .find((keyword) => keyword in schema);
    if (beside !== undefined) throw this.#fault(place, `'${beside}' beside 'enum' or 'const'`);
    if ('const' in schema && 'enum' in schema) throw this.#fault(place, "'enum' beside 'const'");
    const valid = values.filter((value) => types.length === 0 || types.some((type) => hasType(value, type)));
    this.#countChoices(valid.length);
    if (valid.length === 0) throw this.#fault(place, "an 'enum' without a value");
    return this.#grammar.add('enum', valid.map((value) => jsonLiteral(value)).join(' | '));
  }

  #typed(type: string, schema: JsonSchema, place: Place, depth: number): string {
    switch (type) {
      case 'object':
        return this.#object(schema, place, depth);
      case 'array':
        return this.#array(schema, place, depth);
      case 'string':
        return this.#at(place, () => stringRule(this.#grammar, schema));
      case 'integer':
      case 'number':
        return this.#at(place, () => numberRule(this.#grammar, type, schema));
      default:
        return type;
    }
  }

  #object(schema: JsonSchema, place: Place, depth: number): string {
    const more = schema.additionalProperties ?? schema.unevaluatedProperties ?? true;
    const required = new Set(list(schema.required));
    this.#countChoices(required.size + Object.keys(record(schema.properties)).length);
    const properties = record(schema.properties);
    const named = Object.entries(properties).filter(
      ([name, each]) => each !== false || required.has(name),
    ) as [string, Schema][];
    for (const name of required) {
      if (typeof name !== 'string') throw this.#fault(place, "a 'required' that is no text");
      if (!Object.hasOwn(properties, name)) named.push([name, more as Schema]);
    }
    const atLeast = this.#at(place, () => countOf(schema, 'minProperties', 0));
    const atMost = this.#at(place, () => countOf(schema, 'maxProperties', Number.POSITIVE_INFINITY));
    if (required.size > atMost) throw this.#fault(place, "more 'required' than 'maxProperties'");
    if (named.length === 0) return this.#map(more as Schema, atLeast, atMost, place, depth);
    // More may be written only when all may.
    const written = named.length > atMost ? named.filter(([name]) => required.has(name)) : named;
    const always = atLeast > required.size ? new Set(written.map(([name]) => name)) : required;
    if (atLeast > written.length) throw this.#fault(place, "'minProperties' beyond the properties");
    const members = written.map(([name, each]) => ({
      rule: `${jsonLiteral(name)} ":" ${this.rule(each, [...place, 'properties', name], depth + 1)}`,
      optional: !always.has(name),
    }));
    return this.#grammar.add('object', `"{" ${this.#members(members)} "}"`);
  }

  /** Members in their order, with a comma between two that are there. */
  #members(members: readonly { readonly rule: string; readonly optional: boolean }[]): string {
    // From the last to the first: what follows a member, and what follows when there is none yet.
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

  /** Members of any names. */
  #map(more: Schema, atLeast: number, atMost: number, place: Place, depth: number): string {
    // A name that comes twice counts once.
    if (atLeast > 1) throw this.#fault(place, "'minProperties' without properties");
    if (more === false || atMost === 0) {
      if (atLeast > 0) throw this.#fault(place, 'nothing is valid here');
      return this.#grammar.add('object', '"{}"');
    }
    if (more === true && atLeast === 0 && atMost === Number.POSITIVE_INFINITY) return 'object';
    const value = this.rule(more, [...place, 'additionalProperties'], depth + 1);
    const member = this.#grammar.add('member', `string ":" ${value}`);
    return this.#grammar.add('object', `"{" ${listOf(this.#grammar, member, atLeast, atMost)} "}"`);
  }

  #array(schema: JsonSchema, place: Place, depth: number): string {
    // A list of items is the older word for prefixItems, and what comes after it had its own.
    const older = Array.isArray(schema.items);
    const first = list(older ? schema.items : schema.prefixItems) as Schema[];
    const after = older ? schema.additionalItems : schema.items;
    const more = (after ?? true) as Schema;
    const atLeast = this.#at(place, () => countOf(schema, 'minItems', 0));
    const atMost = this.#at(place, () => countOf(schema, 'maxItems', Number.POSITIVE_INFINITY));
    if (schema.uniqueItems === true && atMost > 1) throw this.#fault(place, "'uniqueItems'");
    if (atLeast > atMost) throw this.#fault(place, "more 'minItems' than 'maxItems'");
    if (atLeast > MAX_LISTED) throw this.#fault(place, `a 'minItems' above ${MAX_LISTED}`);
    const fixed = first.slice(0, Math.min(first.length, atMost));
    const rules = fixed.map((each, i) => this.rule(each, [...place, 'prefixItems', i], depth + 1));
    const missing = Math.max(0, atLeast - fixed.length);
    if (more === false || (first.length > 0 && after === undefined && missing === 0)) {
      if (missing > 0) throw this.#fault(place, "'minItems' beyond the items");
      return this.#grammar.add('array', `"[" ${rules.join(' "," ')} "]"`);
    }
    if (atMost === 0) return this.#grammar.add('array', '"[]"');
    const item = this.rule(more, [...place, 'items'], depth + 1);
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
    throw new ValidationIssue(`it has more than ${MAX_CHOICES} values of enums, choices and properties`);
  }

  /** Schemas may name each other so often that there is no end of them. */
  #visit(schema: unknown, place: Place): void {
    this.#grammar.look(1);
    if (
      typeof schema !== 'boolean' &&
      (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    ) {
      throw this.#fault(place, 'what is no schema');
    }
    this.#grammar.look(Object.keys(schema).length);
  }

  /** Does what may find a fault, which is told with its place. */
  #at<T>(place: Place, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw error instanceof ValidationIssue ? this.#fault(place, error.message) : error;
    }
  }

  #fault(place: Place, what: string): ValidationIssue {
    const at = place.length === 0 ? 'at its top' : `at ${place.join('/').slice(0, MAX_PLACE)}`;
    return new ValidationIssue(`${what} (${at})`);
  }
}

/** A step of a JSON pointer in an address; one that is badly written names nothing. */
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
