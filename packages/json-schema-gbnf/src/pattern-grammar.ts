/** Converts regular expressions of JSON Schema to a grammar for the contents of a JSON string. */

import { normalized, type PatternNode, type Range, UnsupportedPatternError } from './pattern-syntax.ts';

/** A part of a pattern. */
interface Part {
  /** GBNF. */
  readonly grammar: string;
  /** Whether the part matches the empty string. */
  readonly empty: boolean;
  /** Number of rules that llama.cpp creates for the part. */
  readonly rules: number;
  /** Number of positions of a match within the part. llama.cpp tracks all of them concurrently. */
  readonly positions: number;
}

const EMPTY: Part = { grammar: '', empty: true, rules: 0, positions: 0 };
/** Characters that must be escaped in a JSON string, with their escape sequence. */
export const ESCAPED: readonly (readonly [code: number, json: string])[] = [
  [0x22, '\\"'],
  [0x5c, '\\\\'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
];
/** Characters that a JSON string contains unescaped and that every vocabulary can generate. */
const RAW: readonly Range[] = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x7e],
  [0x80, 0xd7ff],
  [0xe000, 0x3ffff],
];
/** Maximum number of rules that llama.cpp creates for one repetition. It rejects grammars with more. */
const MAX_RULES = 1999;
/** Maximum number of positions of a repeated group. */
const MAX_POSITIONS = 256;

/**
 * Returns the GBNF of the strings that a pattern matches.
 * @param text rule of any characters.
 * @returns undefined for an anchor that is not at an end of an alternative, or a repetition of an expression that may be empty.
 * @throws UnsupportedPatternError with the unsupported syntax.
 */
export function patternGrammar(pattern: PatternNode, text: string): string | undefined {
  const choices = pattern.kind === 'choice' ? pattern.of : [pattern];
  const alternatives: string[] = [];
  for (const choice of choices) {
    const of = choice.kind === 'sequence' ? choice.of : [choice];
    const [opens, closes] = [of[0]?.kind === 'start', of.at(-1)?.kind === 'end'];
    const inner = of.slice(opens ? 1 : 0, closes ? -1 : undefined);
    const part = convert({ kind: 'sequence', of: inner });
    if (part === undefined) return undefined;
    alternatives.push([opens ? '' : text, part.grammar, closes ? '' : text].filter(Boolean).join(' '));
  }
  return alternatives.map((each) => each || '""').join(' | ');
}

function convert(node: PatternNode): Part | undefined {
  switch (node.kind) {
    case 'characters':
      return characters(node.ranges);
    case 'start':
    case 'end':
      return undefined;
    case 'repeat':
      return repeated(node.of, node.min, node.max);
    default: {
      const parts = node.of.map(convert);
      if (!parts.every((part) => part !== undefined)) return undefined;
      return node.kind === 'sequence' ? sequence(parts) : choice(parts);
    }
  }
}

function sequence(parts: readonly Part[]): Part {
  return {
    grammar: parts.map(({ grammar }) => grammar).join(' '),
    empty: parts.every(({ empty }) => empty),
    rules: total(parts, 'rules'),
    positions: total(parts, 'positions'),
  };
}

function choice(parts: readonly Part[]): Part {
  const grammar = parts.map((part) => part.grammar || '""').join(' | ');
  return {
    grammar: `(${grammar})`,
    empty: parts.some(({ empty }) => empty),
    rules: 1 + total(parts, 'rules'),
    positions: total(parts, 'positions'),
  };
}

function repeated(of: PatternNode, min: number, max: number): Part | undefined {
  const converted = convert(of);
  if (converted === undefined || max === 0) return max === 0 ? EMPTY : undefined;
  // A group of several parts is repeated as a whole.
  const part = of.kind === 'sequence' ? choice([converted]) : converted;
  const unlimited = max === Number.POSITIVE_INFINITY;
  if (part.empty && unlimited) return undefined;
  const positions = part.positions * (unlimited ? min + 1 : max);
  const rules = Math.max(1, part.rules) * (unlimited ? Math.max(1, min) : max);
  if ((part.positions > 1 && positions > MAX_POSITIONS) || rules > MAX_RULES) {
    throw new UnsupportedPatternError('too many repetitions');
  }
  return {
    grammar: `${part.grammar}{${min},${unlimited ? '' : max}}`,
    empty: part.empty || min === 0,
    rules: part.rules + (unlimited ? 1 : max - min),
    positions,
  };
}

function total(parts: readonly Part[], count: 'rules' | 'positions'): number {
  return parts.reduce((sum, part) => sum + part[count], 0);
}

/** One of these characters, as encoded in a JSON string. */
export function characters(ranges: readonly Range[]): Part {
  const raw = normalized(ranges).flatMap(([from, to]) =>
    RAW.flatMap(([low, high]): Range[] =>
      low > to || high < from ? [] : [[Math.max(low, from), Math.min(high, to)]],
    ),
  );
  const escaped = ESCAPED.filter(([code]) => ranges.some(([from, to]) => from <= code && code <= to));
  const parts = escaped.map(([, json]) => `"${json.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  if (raw.length > 0) parts.unshift(`[${raw.map(rangeText).join('')}]`);
  if (parts.length === 0)
    throw new UnsupportedPatternError('a character class that no JSON string can contain');
  if (parts.length === 1) return { grammar: parts[0] ?? '', empty: false, rules: 0, positions: 1 };
  return { grammar: `(${parts.join(' | ')})`, empty: false, rules: 1, positions: 1 };
}

/** A range within a character class of GBNF. */
export function rangeText([from, to]: Range): string {
  const code = (value: number) => {
    const character = value < 0x80 ? String.fromCodePoint(value) : '';
    return /^[A-Za-z0-9_ ]$/.test(character) ? character : `\\U${value.toString(16).padStart(8, '0')}`;
  };
  return from === to ? code(from) : `${code(from)}-${code(to)}`;
}
