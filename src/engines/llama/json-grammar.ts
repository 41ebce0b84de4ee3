/**
 * JSON Schema as a grammar of llama.cpp (GBNF): what it writes is valid against the schema, without a space
 * between tokens. The grammar may allow less than the schema: properties that it does not name are not written
 * beside those that it names, numbers have no exponent. llama.cpp has a converter of its own, which drops what
 * it does not know without a word, and a grammar that does not parse ends the process.
 */

import { invalidRequest } from '../../contract/error.ts';
import type { JsonSchema } from '../../contract/text.ts';
import { integerGrammar, multiplesWithin, numberGrammar } from './number-grammar.ts';
import { PatternFault, patternGrammar } from './pattern-grammar.ts';
import { areDisjoint } from './schema-disjoint.ts';
import { ANNOTATIONS, list, mergeSchemas, record, SchemaFault } from './schema-merge.ts';

/** Rules that every grammar may name. */
const SHARED: Readonly<Record<string, string>> = {
  character: '[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" ["\\\\bfnrt]',
  string: '"\\"" character* "\\""',
  integer: '"-"? ([0-9] | [1-9] [0-9]{1,14})',
  number: 'integer ("." [0-9]{1,9})?',
  boolean: '"true" | "false"',
  null: '"null"',
  value: 'object | array | string | number | boolean | null',
  member: 'string ":" value',
  object: '"{" (member ("," member)*)? "}"',
  array: '"[" (value ("," value)*)? "]"',
};

/** Grammar of the formats, between the quotes; each is a part of what the format allows. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '[12] [0-9]{3} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | "1" [0-9] | "2" [0-8])',
  time: '("0" [0-9] | "1" [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] "Z"',
  duration: '"P" ([1-9] [0-9]{0,2} "D" | "T" [1-9] [0-9]{0,2} [HMS])',
  email: '[a-z0-9]{1,30} ("." [a-z0-9]{1,20})? "@" [a-z0-9]{1,30} "." [a-z]{2,10}',
  hostname: '[a-z0-9]{1,30} ("." [a-z0-9]{1,30}){0,3}',
  ipv4: 'byte "." byte "." byte "." byte',
  ipv6: '[0-9a-f]{1,4} (":" [0-9a-f]{1,4}){7}',
  uuid: '[0-9a-f]{8} "-" [0-9a-f]{4} "-4" [0-9a-f]{3} "-" [89ab] [0-9a-f]{3} "-" [0-9a-f]{12}',
  uri: '"https://" [a-z0-9]{1,30} "." [a-z]{2,10} ("/" [a-zA-Z0-9._-]{0,60}){0,8}',
};
const BYTE = '"25" [0-5] | "2" [0-4] [0-9] | "1" [0-9]{2} | [1-9] [0-9] | [0-9]';

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
/** llama.cpp repeats less than 2000 times. */
const MOST_REPEATED = 1999;
const MOST_MULTIPLES = 500;
/** Values of enums, choices and properties of one schema together: each may have to be looked at for each token. */
const MOST_CHOICES = 1000;
const MOST_DEPTH = 64;
/** Far beyond what any schema needs that a model can follow. */
const MOST_CHARACTERS = 400_000;

/** Planes of Unicode in which nothing is assigned. */
const RARE = /[\u{40000}-\u{DFFFF}]/gu;

type Schema = JsonSchema | boolean;
type Place = readonly (string | number)[];

/** A literal of the grammar. */
export function literal(text: string): string {
  const escaped = text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `"${escaped}"`;
}

/** A literal of a value as JSON. What a vocabulary may lack is escaped: a literal that cannot be written ends the process. */
function jsonLiteral(value: unknown): string {
  const escaped = (character: string) => {
    const units = [character.charCodeAt(0), character.charCodeAt(1)];
    return units.map((unit) => `\\u${unit.toString(16)}`).join('');
  };
  return literal(JSON.stringify(value).replace(RARE, escaped));
}

/** A grammar that is put together: rules of schemas, rules of text around them. */
export class JsonGrammar {
  readonly #rules = new Map<string, string>();
  /** Rules that a rule may begin with, without a character before: where they go round, nothing is ever written. */
  readonly #begins = new Map<string, readonly string[]>();
  #characters = 0;

  /** Adds a rule and gives the name that it has here. */
  add(name: string, body: string, begins: readonly string[] = []): string {
    const rule = `${name}-${this.#rules.size}`;
    this.#set(rule, body, begins);
    return rule;
  }

  /**
   * Adds what is valid against a schema.
   * @param param the field that errors name.
   * @param root what `#` means in its references.
   * @throws ServiceError `invalid_request` that names what of the schema cannot be had.
   */
  schema(schema: Schema, param: string, root: Schema = schema): string {
    try {
      return new SchemaReader(this, root).rule(schema, [], 0);
    } catch (error) {
      if (!(error instanceof SchemaFault)) throw error;
      throw invalidRequest(
        `The JSON Schema cannot be followed by this model: ${error.message}.`,
        param,
        'unsupported_value',
      );
    }
  }

  /** Makes a name for a rule that follows. */
  reserve(name: string): string {
    const rule = `${name}-${this.#rules.size}`;
    this.#rules.set(rule, '');
    return rule;
  }

  define(rule: string, body: string, begins: readonly string[]): void {
    this.#set(rule, body, begins);
  }

  /** The whole grammar of a rule. */
  text(root: string): string {
    const rules = [`root ::= ${root}`, ...[...this.#rules].map(([name, body]) => `${name} ::= ${body}`)];
    const shared = { ...SHARED, byte: BYTE };
    return [...rules, ...Object.entries(shared).map(([name, body]) => `${name} ::= ${body}`)].join('\n');
  }

  #set(rule: string, body: string, begins: readonly string[]): void {
    this.#characters += body.length;
    if (this.#characters > MOST_CHARACTERS) throw new SchemaFault('it is too large');
    this.#rules.set(rule, body);
    this.#begins.set(rule, begins);
    if (this.#beginsWith(rule, rule, new Set())) throw new SchemaFault("a '$ref' leads back to itself");
  }

  #beginsWith(rule: string, goal: string, seen: Set<string>): boolean {
    if (seen.has(rule)) return false;
    seen.add(rule);
    const begins = this.#begins.get(rule) ?? [];
    return begins.some((each) => each === goal || this.#beginsWith(each, goal, seen));
  }
}

/** Reads one schema with its references. */
class SchemaReader {
  readonly #grammar: JsonGrammar;
  readonly #root: Schema;
  /** Rules of what references name. */
  readonly #references = new Map<string, string>();
  #choices = 0;

  constructor(grammar: JsonGrammar, root: Schema) {
    this.#grammar = grammar;
    this.#root = root;
  }

  /** The rule of a schema that stands somewhere. */
  rule(schema: Schema, place: Place, depth: number): string {
    if (schema === true) return 'value';
    if (schema === false) throw this.#fault(place, 'nothing is valid here');
    if (depth > MOST_DEPTH) throw this.#fault(place, `it is deeper than ${MOST_DEPTH}`);
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
    if (!/^#(\/|$)/.test(reference)) throw this.#fault(place, "a '$ref' outside the schema");
    let found: unknown = this.#root;
    for (const step of reference.slice(1).split('/').slice(1)) {
      const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
      const within = Array.isArray(found) ? Object.fromEntries(Object.entries(found)) : record(found);
      found = Object.hasOwn(within, key) ? within[key] : undefined;
    }
    if (typeof found === 'boolean') return found;
    if (typeof found !== 'object' || found === null) {
      throw this.#fault(place, "a '$ref' to what is not there");
    }
    return record(found);
  }

  /** A schema with everything that `$ref` and `allOf` add to it. */
  #whole(schema: Schema, place: Place, depth: number): JsonSchema | true {
    if (schema === true) return true;
    if (schema === false) throw this.#fault(place, 'nothing is valid here');
    if (depth > MOST_DEPTH) throw this.#fault(place, "a '$ref' leads back to itself");
    const { $ref, allOf, ...rest } = schema;
    const parts: Schema[] = list(allOf) as Schema[];
    if (typeof $ref === 'string') parts.push(this.#resolve($ref, place));
    return parts.reduce<JsonSchema>((sum, part) => {
      const whole = this.#whole(part, place, depth + 1);
      if (whole === true) return sum;
      try {
        return mergeSchemas(sum, whole);
      } catch (error) {
        throw error instanceof SchemaFault ? this.#fault(place, error.message) : error;
      }
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
      if (!areDisjoint(all)) throw this.#fault(place, "a 'oneOf' of which a value may match several");
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
    const refused = REFUSED.find((keyword) => schema[keyword] !== undefined && schema[keyword] !== true);
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
        return this.#string(schema, place);
      case 'integer':
      case 'number':
        return this.#number(type, schema, place);
      default:
        return type;
    }
  }

  #object(schema: JsonSchema, place: Place, depth: number): string {
    const more = schema.additionalProperties ?? schema.unevaluatedProperties ?? true;
    const required = new Set(list(schema.required));
    const named = Object.entries(record(schema.properties)).filter(
      ([name, each]) => each !== false || required.has(name),
    ) as [string, Schema][];
    for (const name of required) {
      if (typeof name !== 'string') throw this.#fault(place, "a 'required' that is no text");
      if (named.every(([each]) => each !== name)) named.push([name, more as Schema]);
    }
    const atLeast = typeof schema.minProperties === 'number' ? schema.minProperties : 0;
    const atMost = typeof schema.maxProperties === 'number' ? schema.maxProperties : Number.POSITIVE_INFINITY;
    if (required.size > atMost) throw this.#fault(place, "more 'required' than 'maxProperties'");
    if (named.length === 0) return this.#map(more as Schema, atLeast, atMost, place, depth);
    this.#countChoices(named.length);
    // More may be written only when all may.
    const written = named.length > atMost ? named.filter(([name]) => required.has(name)) : named;
    const always = atLeast > required.size ? written.map(([name]) => name) : [...required];
    if (atLeast > written.length) throw this.#fault(place, "'minProperties' beyond the properties");
    const members = written.map(([name, each]) => ({
      rule: `${jsonLiteral(name)} ":" ${this.rule(each, [...place, 'properties', name], depth + 1)}`,
      optional: !always.includes(name),
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
    return this.#grammar.add('object', `"{" ${repeated(member, atLeast, atMost)} "}"`);
  }

  #array(schema: JsonSchema, place: Place, depth: number): string {
    // A list of items is the older word for prefixItems, and what comes after it had its own.
    const older = Array.isArray(schema.items);
    const first = list(older ? schema.items : schema.prefixItems) as Schema[];
    const after = older ? schema.additionalItems : schema.items;
    const more = (after ?? true) as Schema;
    const atLeast = typeof schema.minItems === 'number' ? schema.minItems : 0;
    const atMost = typeof schema.maxItems === 'number' ? schema.maxItems : Number.POSITIVE_INFINITY;
    if (schema.uniqueItems === true && atMost > 1) throw this.#fault(place, "'uniqueItems'");
    if (atLeast > atMost) throw this.#fault(place, "more 'minItems' than 'maxItems'");
    if (atLeast > MOST_REPEATED) throw this.#fault(place, `a 'minItems' above ${MOST_REPEATED}`);
    const fixed = first.slice(0, Math.min(first.length, atMost));
    const rules = fixed.map((each, i) => this.rule(each, [...place, 'prefixItems', i], depth + 1));
    const missing = Math.max(0, atLeast - fixed.length);
    if (more === false || (first.length > 0 && after === undefined && missing === 0)) {
      if (missing > 0) throw this.#fault(place, "'minItems' beyond the items");
      return this.#grammar.add('array', `"[" ${rules.join(' "," ')} "]"`);
    }
    if (atMost === 0) return this.#grammar.add('array', '"[]"');
    const item = this.rule(more, [...place, 'items'], depth + 1);
    const room = atMost - fixed.length;
    if (rules.length === 0) return this.#grammar.add('array', `"[" ${repeated(item, atLeast, atMost)} "]"`);
    const tail = room > 0 ? `("," ${item})${times(missing, room)}` : '';
    return this.#grammar.add('array', `"[" ${rules.join(' "," ')} ${tail} "]"`);
  }

  #string(schema: JsonSchema, place: Place): string {
    const { format, pattern, minLength, maxLength } = schema;
    const bounded = minLength !== undefined || maxLength !== undefined;
    const asked = [format, pattern, bounded || undefined].filter((each) => each !== undefined);
    if (asked.length > 1) throw this.#fault(place, "two of 'format', 'pattern' and limits of the length");
    if (typeof format === 'string') {
      const known = format === 'date-time' ? `${FORMATS.date} "T" ${FORMATS.time}` : FORMATS[format];
      if (known === undefined) throw this.#fault(place, `the format '${format}'`);
      return this.#grammar.add('format', `"\\"" ${known} "\\""`);
    }
    if (typeof pattern === 'string') {
      try {
        return this.#grammar.add('pattern', `"\\"" (${patternGrammar(pattern, 'character*')}) "\\""`);
      } catch (error) {
        if (!(error instanceof PatternFault)) throw error;
        throw this.#fault(place, `a 'pattern' with ${error.message}`);
      }
    }
    if (!bounded) return 'string';
    const atLeast = typeof minLength === 'number' ? minLength : 0;
    const atMost = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
    if (atLeast > atMost) throw this.#fault(place, "more 'minLength' than 'maxLength'");
    if (atLeast > MOST_REPEATED) throw this.#fault(place, `a 'minLength' above ${MOST_REPEATED}`);
    if (atMost === 0) return this.#grammar.add('text', '"\\"\\""');
    return this.#grammar.add('text', `"\\"" character${times(atLeast, atMost)} "\\""`);
  }

  #number(type: 'integer' | 'number', schema: JsonSchema, place: Place): string {
    const { multipleOf, ...bounds } = schema;
    const bounded = KEYWORDS.number?.some((keyword) => keyword in bounds);
    const decimals = typeof multipleOf === 'number' ? decimalsOfStep(multipleOf) : undefined;
    const whole = type === 'integer' || decimals === 0;
    if (multipleOf !== undefined && decimals === undefined) {
      const step = typeof multipleOf === 'number' && Number.isSafeInteger(multipleOf) ? multipleOf : 0;
      const values = step > 0 ? multiplesWithin(step, bounds, MOST_MULTIPLES) : undefined;
      if (values === undefined) {
        throw this.#fault(place, `a 'multipleOf' without limits that leave 1 to ${MOST_MULTIPLES} values`);
      }
      this.#countChoices(values.length);
      return this.#grammar.add('multiple', values.map((value) => literal(String(value))).join(' | '));
    }
    if (!bounded && (whole || decimals === undefined)) return whole ? 'integer' : 'number';
    const grammar = whole ? integerGrammar(bounds) : numberGrammar(bounds, decimals);
    if (grammar === undefined) throw this.#fault(place, 'limits that leave no number of at most 15 digits');
    return this.#grammar.add(type, grammar);
  }

  #countChoices(count: number): void {
    this.#choices += count;
    if (this.#choices <= MOST_CHOICES) return;
    throw new SchemaFault(`it has more than ${MOST_CHOICES} values of enums, choices and properties`);
  }

  #fault(place: Place, what: string): SchemaFault {
    const at = place.length === 0 ? 'at its top' : `at ${place.join('/')}`;
    return new SchemaFault(`${what} (${at})`);
  }
}

/** How often something may stand there; a limit that the library does not know is as if there were none below it. */
function times(atLeast: number, atMost: number): string {
  if (atMost === Number.POSITIVE_INFINITY) return atLeast === 0 ? '*' : `{${atLeast},}`;
  return `{${atLeast},${Math.min(atMost, MOST_REPEATED)}}`;
}

/** A rule so many times, with commas between. */
function repeated(rule: string, atLeast: number, atMost: number): string {
  const most = atMost === Number.POSITIVE_INFINITY ? atMost : atMost - 1;
  const tail = most === 0 ? '' : `("," ${rule})${times(Math.max(0, atLeast - 1), most)}`;
  return atLeast === 0 ? `(${rule} ${tail})?` : `${rule} ${tail}`;
}

/** Decimals that multiples of 1, 0.1, 0.01 … have; undefined for other steps. */
function decimalsOfStep(step: number): number | undefined {
  const [, decimals = ''] = /^(?:1|0\.(0*1))$/.exec(String(step)) ?? [undefined, undefined];
  return step === 1 || decimals !== '' ? decimals.length : undefined;
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
