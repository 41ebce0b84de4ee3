/** Grammar of sets of strings. */

import { type TextCondition, textGrammar } from './automaton-grammar.ts';
import { type Grammar, MAX_REPEATED, times } from './grammar.ts';
import { patternGrammar } from './pattern-grammar.ts';
import { type LengthLimits, lengthsOf, readPattern, shortened } from './pattern-syntax.ts';
import type { SchemaSets } from './schema-sets.ts';
import { supported, UnsupportedSchemaError } from './schema-values.ts';
import { formatPattern } from './string-formats.ts';
import type { StringSet } from './value-sets.ts';

/** Work of one pattern character, in the unit of {@link Grammar.countSteps}: it is parsed and converted. */
const STEPS_PER_CHARACTER = 2;
/** Fewest characters to which a repetition in a pattern of a schema is shortened. Below, an automaton counts. */
const LEAST_REPETITIONS = 12;
const ANY_LENGTH: LengthLimits = { min: 0, max: Number.POSITIVE_INFINITY };

/**
 * Adds the rule of a set of strings and returns its name; undefined if it is empty.
 * @throws UnsupportedSchemaError with the unsupported keyword.
 */
export function stringRule(grammar: Grammar, sets: SchemaSets, set: StringSet): string | undefined {
  const { min, max, except } = set;
  const formats = set.formats.flatMap((format) => formatPattern(format, set) ?? []);
  const patterns = [...set.patterns, ...formats];
  if (patterns.length + set.notPatterns.length + except.length === 0) {
    return min === 0 && max === Number.POSITIVE_INFINITY ? 'string' : limitedRule(grammar, set);
  }
  const [only] = patterns;
  if (only !== undefined && patterns.length + set.notPatterns.length + except.length === 1) {
    const rule = patternRule(grammar, only, set, formats.length > 0 ? 2 : LEAST_REPETITIONS);
    if (rule !== undefined) return rule;
  }
  const { conditions, limits } = sets.conditionsOf(set);
  return textRule(grammar, conditions, limits);
}

/** The rule of the strings that satisfy all conditions; undefined if there is none. */
export function textRule(
  grammar: Grammar,
  conditions: readonly TextCondition[],
  limits: LengthLimits,
): string | undefined {
  const content = supported(() => textGrammar(grammar, conditions, limits));
  return content === undefined ? undefined : grammar.add('text', `"\\"" ${content} "\\""`);
}

/**
 * The rule of strings that match a pattern, within limits of the length. The strings may be shorter than the limit allows.
 * @param least fewest characters to which a repetition may be shortened.
 * @returns undefined if only an automaton can express them.
 */
export function patternRule(
  grammar: Grammar,
  pattern: string,
  limits: LengthLimits = ANY_LENGTH,
  least = LEAST_REPETITIONS,
): string | undefined {
  const rule = grammar.once(`${limits.min} ${limits.max} ${pattern}`, () => {
    grammar.countSteps(STEPS_PER_CHARACTER * pattern.length);
    const content = supported(() => {
      const node = readPattern(pattern);
      const fitting = limits.max === Number.POSITIVE_INFINITY ? node : shortened(node, limits.max, least);
      if (fitting === undefined || lengthsOf(fitting).min < limits.min) return undefined;
      return patternGrammar(fitting, 'character*');
    });
    return content === undefined ? '' : grammar.add('pattern', `"\\"" (${content}) "\\""`);
  });
  return rule === '' ? undefined : rule;
}

function limitedRule(grammar: Grammar, { min, max }: LengthLimits): string {
  if (min > MAX_REPEATED) throw new UnsupportedSchemaError(`'minLength' above ${MAX_REPEATED}`);
  if (max === 0) return grammar.add('text', '"\\"\\""');
  const most = Math.min(max, Math.max(min, grammar.maxCharacters));
  return grammar.add('text', `"\\"" character${times(min, most)} "\\""`);
}
