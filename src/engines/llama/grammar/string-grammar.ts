import type { JsonSchema } from '../../../contract/engines/text.ts';
import { type Grammar, MAX_REPEATED, times } from './grammar.ts';
import { patternGrammar, UnsupportedPatternError } from './pattern-grammar.ts';
import { countOf, UnsupportedSchemaError } from './schema-merge.ts';

const DATE = '[12] [0-9]{3} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | "1" [0-9] | "2" [0-8])';
const TIME = '("0" [0-9] | "1" [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] "Z"';

/** Work of one pattern character, in the unit of {@link Grammar.countSteps}: it is parsed and converted. */
const STEPS_PER_CHARACTER = 2;

/** GBNF of the formats, without quotes. Each allows a subset of the format. */
const FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  'date-time': `${DATE} "T" ${TIME}`,
  duration: '"P" ([1-9] [0-9]{0,2} "D" | "T" [1-9] [0-9]{0,2} [HMS])',
  email: '[a-z0-9]{1,30} ("." [a-z0-9]{1,20})? "@" [a-z0-9]{1,30} "." [a-z]{2,10}',
  hostname: '[a-z0-9]{1,30} ("." [a-z0-9]{1,30}){0,3}',
  ipv4: 'byte "." byte "." byte "." byte',
  ipv6: '[0-9a-f]{1,4} (":" [0-9a-f]{1,4}){7}',
  uuid: '[0-9a-f]{8} "-" [0-9a-f]{4} "-4" [0-9a-f]{3} "-" [89ab] [0-9a-f]{3} "-" [0-9a-f]{12}',
  uri: '"https://" [a-z0-9]{1,30} "." [a-z]{2,10} ("/" [a-zA-Z0-9._-]{0,60}){0,8}',
};

/**
 * Adds the rule of the strings that a schema allows and returns its name.
 * @throws UnsupportedSchemaError with the unsupported keyword.
 */
export function stringRule(grammar: Grammar, schema: JsonSchema): string {
  const { format, pattern } = schema;
  const atLeast = countOf(schema, 'minLength', 0);
  const atMost = countOf(schema, 'maxLength', Number.POSITIVE_INFINITY);
  const bounded = atLeast > 0 || atMost < Number.POSITIVE_INFINITY;
  if ([format !== undefined, pattern !== undefined, bounded].filter(Boolean).length > 1) {
    throw new UnsupportedSchemaError("more than one of 'format', 'pattern' and length limits");
  }
  if (format !== undefined) return formatRule(grammar, format);
  if (pattern !== undefined) return patternRule(grammar, pattern);
  if (!bounded) return 'string';
  if (atLeast > atMost) throw new UnsupportedSchemaError("'minLength' above 'maxLength'");
  if (atLeast > MAX_REPEATED) throw new UnsupportedSchemaError(`'minLength' above ${MAX_REPEATED}`);
  if (atMost === 0) return grammar.add('text', '"\\"\\""');
  const max = Math.min(atMost, Math.max(atLeast, grammar.maxCharacters));
  return grammar.add('text', `"\\"" character${times(atLeast, max)} "\\""`);
}

function formatRule(grammar: Grammar, format: unknown): string {
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (known !== undefined) return grammar.add('format', `"\\"" ${known} "\\""`);
  const named = typeof format === 'string' && /^[a-z-]{1,40}$/.test(format) ? ` '${format}'` : '';
  throw new UnsupportedSchemaError(
    `the format${named}; supported formats: ${Object.keys(FORMATS).join(', ')}`,
  );
}

function patternRule(grammar: Grammar, pattern: unknown): string {
  if (typeof pattern !== 'string') throw new UnsupportedSchemaError("'pattern' is not a string");
  try {
    return grammar.once(pattern, () => {
      grammar.countSteps(STEPS_PER_CHARACTER * pattern.length);
      return grammar.add('pattern', `"\\"" (${patternGrammar(pattern, 'character*')}) "\\""`);
    });
  } catch (error) {
    if (!(error instanceof UnsupportedPatternError)) throw error;
    throw new UnsupportedSchemaError(`'pattern' with ${error.message}`);
  }
}
