/**
 * Estimates whether the transcribed words are a complete sentence. If speech breaks off, the decoder is unsure about the last words,
 * and whether a final mark follows them (docs/decisions/end-of-turn.md).
 */

/** Marks that end a sentence, each a token of the multilingual vocabulary. */
export const FINAL_MARKS = ['.', '!', '?', '。', '！', '？'] as const;
/** Tokens before the mark whose probability counts. */
const LAST_TOKENS = 3;

export class SentenceEnd {
  readonly #finalMarks: readonly number[];
  /** Log probabilities of the last tokens. */
  readonly #last: number[] = [];
  #isAfterMark = false;
  #probability = 0;

  /** @param finalMarks tokens of {@link FINAL_MARKS}. */
  constructor(finalMarks: readonly number[]) {
    this.#finalMarks = finalMarks;
  }

  /** 0–1: whether the words so far are a complete sentence. */
  get probability(): number {
    return this.#probability;
  }

  /** Adds a decoder step. @param logProbability of the chosen token. @param logits of all tokens, unnormalized. */
  add(token: number, logProbability: number, logits: Float32Array): void {
    const isMark = this.#finalMarks.includes(token);
    if (!this.#isAfterMark) {
      const logTotal = (logits[token] ?? 0) - logProbability;
      const mark = this.#finalMarks.reduce(
        (sum, each) => sum + Math.exp((logits[each] ?? Number.NEGATIVE_INFINITY) - logTotal),
        0,
      );
      const words = this.#last.reduce((sum, each) => sum + each, 0) / Math.max(1, this.#last.length);
      this.#probability = Math.min(1, mark) * Math.exp(words);
    }
    this.#isAfterMark = isMark;
    if (isMark) return;
    this.#last.push(logProbability);
    if (this.#last.length > LAST_TOKENS) this.#last.shift();
  }
}
