/** Deterministic automata over code points, for the intersection and the difference of patterns, formats and names. */

import { ALL, LAST, type PatternNode, type Range, UnsupportedPatternError } from './pattern-syntax.ts';

/** A deterministic automaton. States are numbers; the automaton creates them when they are reached. */
export interface Automaton {
  /** First code points of the ranges within which all transitions are equal. */
  readonly cuts: readonly number[];
  readonly start: number;
  /** The next state; {@link DEAD} if no continuation is accepted. */
  next(state: number, code: number): number;
  accepts(state: number): boolean;
}

/** State from which no text is accepted. */
export const DEAD = -1;
/** Maximum number of positions of a pattern: repetitions are copied. */
const MAX_POSITIONS = 2500;
/** Maximum number of states of an automaton. */
const MAX_STATES = 1000;

/** Whether an automaton accepts a text. */
export function accepts(automaton: Automaton, text: string): boolean {
  let state = automaton.start;
  for (const character of text) {
    state = automaton.next(state, character.codePointAt(0) ?? 0);
    if (state === DEAD) return false;
  }
  return automaton.accepts(state);
}

/** Accepts a fixed set of texts. */
export class LiteralsAutomaton implements Automaton {
  readonly start = 0;
  readonly #nodes: Map<number, number>[] = [new Map()];
  readonly #ends = new Set<number>();

  constructor(texts: Iterable<string>) {
    for (const text of texts) {
      let node = 0;
      for (const character of text) {
        const code = character.codePointAt(0) ?? 0;
        let next = this.#nodes[node]?.get(code);
        if (next === undefined) {
          next = this.#nodes.push(new Map()) - 1;
          this.#nodes[node]?.set(code, next);
        }
        node = next;
      }
      this.#ends.add(node);
    }
  }

  get cuts(): readonly number[] {
    return this.#nodes.flatMap((node) => [...node.keys()].flatMap((code) => [code, code + 1]));
  }

  next(state: number, code: number): number {
    return this.#nodes[state]?.get(code) ?? DEAD;
  }

  accepts(state: number): boolean {
    return this.#ends.has(state);
  }
}

/** Accepts the integers in decimal notation that are multiples of a step. */
export class MultiplesAutomaton implements Automaton {
  readonly cuts: readonly number[] = [0x2d, ...Array.from({ length: 11 }, (_, i) => 0x30 + i)];
  readonly start = 0;
  readonly #step: number;

  constructor(step: number) {
    this.#step = step;
  }

  /** The state is the remainder. The sign does not change whether it is zero. */
  next(state: number, code: number): number {
    if (code === 0x2d) return state;
    return code >= 0x30 && code <= 0x39 ? (state * 10 + code - 0x30) % this.#step : DEAD;
  }

  accepts(state: number): boolean {
    return state === 0;
  }
}

/** A position in a pattern, with the transitions from it. */
interface Position {
  ranges?: readonly Range[];
  target?: number;
  /** Positions that are reached without a character: always, at the start of the text, or at its end. */
  readonly always: number[];
  readonly atStart: number[];
  readonly atEnd: number[];
}

/** Accepts the texts that contain a match of a pattern. */
export class PatternAutomaton implements Automaton {
  readonly cuts: readonly number[];
  readonly start: number;
  readonly #positions: Position[] = [];
  readonly #states: (readonly number[])[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #accepted: boolean[] = [];
  /** Known transitions by state. */
  readonly #next: Map<number, number>[] = [];
  readonly #end: number;
  readonly #countSteps: (count: number) => void;

  /** @throws UnsupportedPatternError for too many repetitions. */
  constructor(pattern: PatternNode, countSteps: (count: number) => void) {
    this.#countSteps = countSteps;
    const begin = this.#position();
    this.#link(begin, ALL, begin);
    const inner = this.#position();
    this.#positions[begin]?.always.push(inner);
    this.#end = this.#compile(pattern, inner);
    const last = this.#position();
    this.#positions[this.#end]?.always.push(last);
    this.#link(last, ALL, last);
    this.#end = last;
    const cuts = new Set([0]);
    for (const { ranges = [] } of this.#positions) {
      for (const [from, to] of ranges) cuts.add(from).add(to + 1);
    }
    this.cuts = [...cuts];
    this.start = this.#state([begin], 'atStart');
  }

  next(state: number, code: number): number {
    const known = this.#next[state]?.get(code);
    if (known !== undefined) return known;
    const next = this.#after(state, code);
    this.#next[state]?.set(code, next);
    return next;
  }

  #after(state: number, code: number): number {
    const targets: number[] = [];
    const positions = this.#states[state] ?? [];
    this.#countSteps(2 + positions.length / 4);
    for (const each of positions) {
      const { ranges, target } = this.#positions[each] as Position;
      if (target !== undefined && ranges?.some(([from, to]) => from <= code && code <= to))
        targets.push(target);
    }
    return targets.length === 0 ? DEAD : this.#state(targets);
  }

  accepts(state: number): boolean {
    return this.#accepted[state] ?? false;
  }

  #position(): number {
    if (this.#positions.length > MAX_POSITIONS) throw new UnsupportedPatternError('too many repetitions');
    return this.#positions.push({ always: [], atStart: [], atEnd: [] }) - 1;
  }

  #link(from: number, ranges: readonly Range[], target: number): void {
    Object.assign(this.#positions[from] as Position, { ranges, target });
  }

  /** Adds a part of a pattern after a position, and returns the position after it. */
  #compile(node: PatternNode, from: number): number {
    switch (node.kind) {
      case 'characters': {
        const to = this.#position();
        const at = this.#position();
        this.#positions[from]?.always.push(at);
        this.#link(at, node.ranges, to);
        return to;
      }
      case 'start':
      case 'end': {
        const to = this.#position();
        this.#positions[from]?.[node.kind === 'start' ? 'atStart' : 'atEnd'].push(to);
        return to;
      }
      case 'sequence':
        return node.of.reduce((at, each) => this.#compile(each, at), from);
      case 'choice': {
        const to = this.#position();
        for (const each of node.of) this.#positions[this.#compile(each, from)]?.always.push(to);
        return to;
      }
      case 'repeat': {
        let at = from;
        for (let i = 0; i < node.min; i += 1) at = this.#compile(node.of, at);
        if (node.max === Number.POSITIVE_INFINITY) {
          const loop = this.#position();
          this.#positions[at]?.always.push(loop);
          this.#positions[this.#compile(node.of, loop)]?.always.push(loop);
          return loop;
        }
        const to = this.#position();
        for (let i = node.min; i < node.max; i += 1) {
          this.#positions[at]?.always.push(to);
          at = this.#compile(node.of, at);
        }
        this.#positions[at]?.always.push(to);
        return to;
      }
    }
  }

  /** The positions that are reached without a further character. */
  #closure(positions: readonly number[], anchors?: 'atStart' | 'atEnd'): Set<number> {
    const closed = new Set(positions);
    for (const each of closed) {
      const position = this.#positions[each] as Position;
      for (const next of position.always) closed.add(next);
      if (anchors !== undefined) for (const next of position[anchors]) closed.add(next);
    }
    return closed;
  }

  #state(positions: readonly number[], anchors?: 'atStart'): number {
    const closed = this.#closure(positions, anchors);
    // After a match, every text is accepted.
    const all = closed.has(this.#end) ? [this.#end] : [...closed].filter((each) => this.#leads(each));
    const key = all.sort((a, b) => a - b).join();
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    if (this.#states.length >= MAX_STATES) throw new UnsupportedPatternError('too many combinations');
    this.#countSteps(1 + closed.size / 4);
    const state = this.#states.push(all) - 1;
    this.#byKey.set(key, state);
    this.#next.push(new Map());
    // A text of no character has its start and its end at the same position.
    const atEnd = this.#closure([...closed], 'atEnd');
    const ends =
      anchors === undefined ? atEnd : this.#closure([...this.#closure([...atEnd], 'atStart')], 'atEnd');
    this.#accepted[state] = ends.has(this.#end);
    return state;
  }

  /** Whether a position has transitions, except those that the closure follows. */
  #leads(position: number): boolean {
    const { target, atEnd } = this.#positions[position] as Position;
    return target !== undefined || atEnd.length > 0;
  }
}

/** A state of several automata that read the same text. */
export interface JointState {
  readonly states: readonly number[];
  /** Next states by index, with the code points that lead there. */
  readonly edges: Map<number, Range[]>;
}

/**
 * Explores all states of automata that read the same text. The first state is the start.
 * @param useful whether a text can still be accepted; other states are left out.
 * @throws UnsupportedPatternError for too many states.
 */
export function explore(
  automata: readonly Automaton[],
  useful: (states: readonly number[]) => boolean,
  countSteps: (count: number) => void,
): JointState[] {
  const cuts = [...new Set([0, ...automata.flatMap((each) => each.cuts)])].sort((a, b) => a - b);
  const found: JointState[] = [];
  const byKey = new Map<string, number>();
  const add = (states: readonly number[]) => {
    const key = states.join();
    const known = byKey.get(key);
    if (known !== undefined) return known;
    if (found.length >= MAX_STATES) throw new UnsupportedPatternError('too many combinations');
    byKey.set(key, found.length);
    return found.push({ states, edges: new Map() }) - 1;
  };
  add(automata.map(({ start }) => start));
  for (const { states, edges } of found) {
    countSteps(1 + (cuts.length * automata.length) / 4);
    let before: readonly number[] = [];
    let target: number | undefined;
    for (const [i, from] of cuts.entries()) {
      const to = (cuts[i + 1] ?? LAST + 1) - 1;
      if (from > LAST) continue;
      const next: number[] = [];
      for (const [each, state] of states.entries()) {
        next.push(state === DEAD ? DEAD : (automata[each]?.next(state, from) ?? DEAD));
      }
      // Most neighboring ranges lead to the same states.
      const isSame = i > 0 && next.every((state, each) => state === before[each]);
      if (!isSame) target = useful(next) ? add(next) : undefined;
      before = next;
      if (target === undefined) continue;
      const ranges = edges.get(target);
      const last = ranges?.at(-1);
      if (ranges === undefined) edges.set(target, [[from, to]]);
      else if (last !== undefined && last[1] === from - 1) ranges[ranges.length - 1] = [last[0], to];
      else ranges.push([from, to]);
    }
  }
  return found;
}
