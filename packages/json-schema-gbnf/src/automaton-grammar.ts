/** Grammar of the JSON strings whose text automata accept. The grammar has one parse per text. */

import { type Automaton, DEAD, explore, type JointState } from './automaton.ts';
import { type Grammar, literal, MAX_REPEATED, times } from './grammar.ts';
import { characters, ESCAPED, rangeText } from './pattern-grammar.ts';
import {
  ALL,
  LAST,
  type LengthLimits,
  type Range,
  UnsupportedPatternError,
  without,
} from './pattern-syntax.ts';

/** A condition on a text: whether an automaton must accept or reject it. */
export interface TextCondition {
  readonly automaton: Automaton;
  readonly wanted: boolean;
}

/** Maximum number of pairs of a state and a length. */
const MAX_COUNTED_STATES = 1500;

/**
 * Returns the GBNF of the contents of a JSON string that satisfies all conditions.
 * @returns undefined if there is none.
 * @throws UnsupportedPatternError for too many states.
 */
export function textGrammar(
  grammar: Grammar,
  conditions: readonly TextCondition[],
  limits: LengthLimits,
): string | undefined {
  const wanted = conditions.map((each) => each.wanted);
  const states = explore(
    conditions.map(({ automaton }) => automaton),
    (all) => all.every((state, i) => state !== DEAD || !wanted[i]),
    (count) => grammar.countSteps(count),
  );
  const ends = states.map(({ states: all }) =>
    all.every((state, i) => (state !== DEAD && conditions[i]?.automaton.accepts(state)) === wanted[i]),
  );
  return new TextRules(grammar, states, ends, limits).start();
}

/** Maximum number of nodes of a tree of names in one rule. */
const MAX_NESTED_NODES = 40;

/** A set of names as a tree of their characters. */
interface Tree {
  readonly children: Map<string, Tree>;
  end: boolean;
}

/** GBNF of the contents of the JSON strings that differ from all texts. */
export function otherTexts(grammar: Grammar, texts: Iterable<string>): string {
  const root: Tree = { children: new Map(), end: false };
  for (const text of texts) {
    let at = root;
    for (const character of text) {
      const child = at.children.get(character) ?? { children: new Map(), end: false };
      at.children.set(character, child);
      at = child;
    }
    at.end = true;
  }
  return otherThan(grammar, root).text;
}

function otherThan(
  grammar: Grammar,
  { children, end }: Tree,
): { readonly text: string; readonly nodes: number } {
  const first = [...children.keys()].filter((each) => isWritten(codeOf(each)));
  const plain = first.filter((each) => !ESCAPED.some(([code]) => code === codeOf(each)));
  const escapes = ESCAPED.filter(([code]) => !children.has(String.fromCodePoint(code)));
  const excluded = plain.map((each) => rangeText([codeOf(each), codeOf(each)])).join('');
  const written =
    escapes.length === ESCAPED.length ? ['"\\\\" ["\\\\bfnrt]'] : escapes.map(([, json]) => literal(json));
  const others = [`[^"\\\\\\x00-\\x1F\\x7F${excluded}]`, ...written].join(' | ');
  const parts = [`(${others}) character*`];
  let nodes = 1;
  // Characters that the grammar never writes lead to no other name.
  for (const each of first) {
    const character = plain.includes(each)
      ? literal(each)
      : characters([[codeOf(each), codeOf(each)]]).grammar;
    const after = otherThan(grammar, children.get(each) as Tree);
    parts.push(`${character} ${after.text}`);
    nodes += after.nodes;
  }
  const text = `(${parts.join(' | ')})${end ? '' : '?'}`;
  // llama.cpp limits the number of rules that it creates for a repeated group, but not for a rule.
  return nodes < MAX_NESTED_NODES ? { text, nodes } : { text: grammar.add('name', text), nodes: 1 };
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** Rules of the states of an automaton. */
class TextRules {
  readonly #grammar: Grammar;
  readonly #states: readonly JointState[];
  readonly #ends: readonly boolean[];
  readonly #limits: LengthLimits;
  /** Minimum number of characters from a state to the end. */
  readonly #distances: readonly number[];
  readonly #rules = new Map<string, string | undefined>();
  readonly #edges: (readonly (readonly [target: number, characters: string])[])[] = [];

  constructor(
    grammar: Grammar,
    states: readonly JointState[],
    ends: readonly boolean[],
    limits: LengthLimits,
  ) {
    this.#grammar = grammar;
    this.#states = states;
    this.#ends = ends;
    this.#limits = limits;
    this.#distances = distancesToEnd(states, ends);
  }

  start(): string | undefined {
    return this.#rule(0, 0);
  }

  /** @param count characters before the state, up to the minimum if there is no maximum. */
  #rule(state: number, count: number): string | undefined {
    const { min, max } = this.#limits;
    const distance = this.#distances[state];
    if (distance === undefined || count + distance > max) return undefined;
    const key = `${state}:${count}`;
    if (this.#rules.has(key)) return this.#rules.get(key);
    if (this.#rules.size >= MAX_COUNTED_STATES) throw new UnsupportedPatternError('too many combinations');
    const edges = this.#edgesOf(state);
    const [[loop, set] = []] = edges;
    if (edges.length <= 1 && this.#ends[state] && (loop === undefined || loop === state)) {
      const rule = this.#repeated(set, count);
      this.#rules.set(key, rule);
      return rule;
    }
    // Without a maximum, the count stops at the minimum, and states may follow themselves.
    const endless = max === Number.POSITIVE_INFINITY && count === min;
    const reserved = endless ? this.#grammar.reserve('text') : undefined;
    this.#rules.set(key, reserved);
    const next = max === Number.POSITIVE_INFINITY ? Math.min(count + 1, min) : count + 1;
    const parts = this.#ends[state] && count >= min ? ['""'] : [];
    for (const [target, characters] of edges) {
      const rule = this.#rule(target, next);
      if (rule !== undefined) parts.push(`${characters} ${rule}`);
    }
    this.#grammar.countSteps(2 + parts.length);
    const body = parts.join(' | ');
    if (reserved !== undefined) this.#grammar.define(reserved, body, []);
    const rule = reserved ?? (parts.length === 0 ? undefined : this.#grammar.add('text', body));
    this.#rules.set(key, rule);
    return rule;
  }

  /** The transitions of a state from which an end is reached, with their characters as GBNF. */
  #edgesOf(state: number): readonly (readonly [target: number, characters: string])[] {
    const known = this.#edges[state];
    if (known !== undefined) return known;
    const edges: [number, string][] = [];
    for (const [target, ranges] of this.#states[state]?.edges ?? []) {
      if (this.#distances[target] === undefined || !canWrite(ranges)) continue;
      const key = `characters ${ranges.join(' ')}`;
      edges.push([target, this.#grammar.once(key, () => characterSet(ranges))]);
    }
    this.#edges[state] = edges;
    return edges;
  }

  /** A state that only characters of one set follow. */
  #repeated(set: string | undefined, count: number): string | undefined {
    const { min, max } = this.#limits;
    const least = Math.max(0, min - count);
    if (set === undefined || max === count) return least === 0 ? this.#grammar.add('text', '""') : undefined;
    if (least > MAX_REPEATED) throw new UnsupportedPatternError('too many repetitions');
    // A named rule, because llama.cpp multiplies the counts of nested repetitions.
    return this.#grammar.add(
      'text',
      `${set}${times(least, max === Number.POSITIVE_INFINITY ? max : max - count)}`,
    );
  }
}

/** The least number of characters to an end; undefined for states that reach none. */
function distancesToEnd(states: readonly JointState[], ends: readonly boolean[]): number[] {
  const before: number[][] = states.map(() => []);
  for (const [state, { edges }] of states.entries()) {
    for (const [target, ranges] of edges) if (canWrite(ranges)) before[target]?.push(state);
  }
  const distances: number[] = [];
  const queue = states.flatMap((_, state) => (ends[state] ? [state] : []));
  for (const state of queue) distances[state] = 0;
  for (const state of queue) {
    for (const each of before[state] ?? []) {
      if (distances[each] !== undefined) continue;
      distances[each] = (distances[state] ?? 0) + 1;
      queue.push(each);
    }
  }
  return distances;
}

/** Characters that a JSON string contains only as an escape sequence. */
const SPECIAL: readonly Range[] = [
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
  [0x7f, 0x7f],
];
/** Whether the grammar can write one of the characters. It never writes control characters without a short escape sequence. */
function canWrite(ranges: readonly Range[]): boolean {
  return ranges.some(
    ([from, to]) => to - from > SPECIAL_CODES || isWritten(from) || isWritten(to) || someWritten(from, to),
  );
}

/** More than the number of consecutive code points that the grammar never writes. */
const SPECIAL_CODES = 0x1000;

function someWritten(from: number, to: number): boolean {
  for (let code = from + 1; code < to; code += 1) if (isWritten(code)) return true;
  return false;
}

function isWritten(code: number): boolean {
  if (code < 0x20) return ESCAPED.some(([each]) => each === code);
  return code !== 0x7f && (code < 0xd800 || code > 0xdfff);
}

/** One of these characters as GBNF. */
function characterSet(ranges: readonly Range[]): string {
  if (ranges.at(-1)?.[1] !== LAST) return characters(ranges).grammar;
  // A set of almost all characters is written as its exceptions, which is shorter.
  const missing = without(ALL, ranges);
  if (!canWrite(missing)) return 'character';
  const excluded = without(missing, SPECIAL).map(rangeText).join('');
  const escapes = ESCAPED.filter(([code]) => ranges.some(([from, to]) => from <= code && code <= to));
  return `(${[`[^"\\\\\\x00-\\x1F\\x7F${excluded}]`, ...escapes.map(([, json]) => literal(json))].join(' | ')})`;
}
