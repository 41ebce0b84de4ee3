/**
 * Sequences of the key-value cache. A finished response leaves its tokens in its sequence. A prompt that starts with the same
 * tokens continues there, or in a copy, and only its other tokens are evaluated. Tokens are shared within one scope only (the
 * fairness key), because response times would otherwise reveal which prompts others have sent.
 */

/** Copying a sequence takes about as long as the evaluation of this number of tokens. */
const MIN_COPIED_TOKENS = 64;

/** The sequence of a response. */
export interface SequenceAssignment {
  readonly sequence: number;
  /** Tokens of the prompt that are already in the cache, at most all but the last one. */
  readonly cachedTokens: number;
  /** The sequence that must first be copied to {@link SequenceAssignment.sequence}. */
  readonly copyFrom: number | undefined;
}

interface CachedSequence {
  readonly id: number;
  scope: string;
  /** The tokens in the cache. */
  tokens: number[];
  busy: boolean;
  /** Time of the last use, as a counter. */
  usedAt: number;
}

export class SequenceCache {
  readonly #sequences: readonly CachedSequence[];
  #uses = 0;

  constructor(sequences: number) {
    this.#sequences = Array.from({ length: sequences }, (_, id) => ({
      id,
      scope: '',
      tokens: [],
      busy: false,
      usedAt: 0,
    }));
  }

  /**
   * Assigns a free sequence to a response. Its tokens after the cached ones are no longer valid.
   * @returns undefined if all sequences are busy.
   */
  acquire(scope: string, prompt: Uint32Array): SequenceAssignment | undefined {
    const free = this.#sequences.filter(({ busy }) => !busy).sort((a, b) => a.usedAt - b.usedAt);
    const [oldest] = free;
    if (oldest === undefined) return undefined;
    const cached = (each: CachedSequence) => (each.scope === scope ? commonPrefix(each.tokens, prompt) : 0);
    const source = this.#sequences.reduce((best, each) => {
      const difference = cached(each) - cached(best);
      return difference > 0 || (difference === 0 && !each.busy && best.busy) ? each : best;
    });
    const cachedTokens = cached(source);
    if (cachedTokens === 0) return this.#assign(oldest, scope, 0, undefined);
    // A sequence of which only the start is equal probably belongs to another conversation, which would lose its tokens.
    const continues = cachedTokens * 2 >= source.tokens.length;
    const other = free.find((each) => each !== source);
    if (other === undefined || (continues && !source.busy)) {
      return this.#assign(source, scope, cachedTokens, undefined);
    }
    if (cachedTokens < MIN_COPIED_TOKENS) return this.#assign(other, scope, cached(other), undefined);
    other.tokens = [...source.tokens];
    return this.#assign(other, scope, cachedTokens, source.id);
  }

  /** Records evaluated tokens. */
  append(sequence: number, tokens: Uint32Array): void {
    const { tokens: all } = this.#sequence(sequence);
    for (const token of tokens) all.push(token);
  }

  /** Frees a sequence and keeps its tokens. */
  release(sequence: number): void {
    const each = this.#sequence(sequence);
    each.busy = false;
    each.usedAt = this.#use();
  }

  /** Removes all tokens of a sequence. */
  clear(sequence: number): void {
    this.#sequence(sequence).tokens = [];
  }

  #assign(
    target: CachedSequence,
    scope: string,
    cachedTokens: number,
    copyFrom: number | undefined,
  ): SequenceAssignment {
    target.scope = scope;
    target.tokens.length = cachedTokens;
    target.busy = true;
    target.usedAt = this.#use();
    return { sequence: target.id, cachedTokens, copyFrom };
  }

  #use(): number {
    this.#uses += 1;
    return this.#uses;
  }

  #sequence(id: number): CachedSequence {
    const sequence = this.#sequences[id];
    if (sequence === undefined) throw new Error(`There is no sequence ${id}.`);
    return sequence;
  }
}

/** Length of the common prefix, without the last token of the prompt: its output is needed to sample the first token. */
function commonPrefix(tokens: readonly number[], prompt: Uint32Array): number {
  const max = Math.min(tokens.length, prompt.length - 1);
  for (let at = 0; at < max; at += 1) if (tokens[at] !== prompt[at]) return at;
  return Math.max(0, max);
}
