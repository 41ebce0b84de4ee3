/**
 * Distribution of a decoding step over responses (continuous batching with chunked prefill). Every response that has read its
 * prompt gets its next token in each step. The prompts share the rest of the step: lower ranks first, keys of equal rank in equal
 * parts, and the prompts of one key in equal parts of its own. A long prompt, or many prompts of one key, therefore neither stall the
 * tokens nor the prompts of others (docs/decisions/fairness.md). Because a step with prompts takes several times as long as one with
 * tokens alone, prompts are read in a third of the time at most while responses wait for tokens, and in short steps. Without such
 * responses they are read in long steps, which read the weights less often.
 */

/**
 * The CPU kernels of llama.cpp for quantized weights multiply blocks of this number of tokens, and the tokens that are left in
 * blocks of 4, which take a third of the time of a whole block.
 */
export const TOKEN_BLOCK = 16;
/** More tokens are not worth their time. */
export const MAX_PADDING = 4;

/** Number of tokens to add to a step of this size, so that it ends with a whole block. */
export function paddingOf(tokens: number): number {
  const missing = (TOKEN_BLOCK - (tokens % TOKEN_BLOCK)) % TOKEN_BLOCK;
  return missing <= MAX_PADDING ? missing : 0;
}

/** Time that tokens alone get after each step with prompts, as a multiple of its duration. */
const TOKEN_TIME = 2;

export interface StepRequest {
  /** Lower ranks are served first. */
  readonly rank: number;
  /** Fairness key. */
  readonly key: string;
  /** Tokens to evaluate: the rest of the prompt, or the last token of the response. */
  readonly pendingTokens: number;
  /** Whether the pending tokens belong to the prompt. */
  readonly readsPrompt: boolean;
}

/** Maximum prompt tokens of a step, at least 1. */
export interface StepSize {
  /** In a step after which a response gets a token. */
  readonly short: number;
  /** In a step that only reads prompts. */
  readonly long: number;
}

/**
 * Returns the number of tokens of each response in the next step, in the order of the responses.
 * @param promptsYield whether prompts wait if a response with the same or a lower rank gets a token, see {@link PromptTurns}.
 */
export function planStep(requests: readonly StepRequest[], size: StepSize, promptsYield = false): number[] {
  const planned = planTokens(requests, size.short, promptsYield);
  const hasOutput = requests.some(({ pendingTokens }, index) => planned[index] === pendingTokens);
  return hasOutput ? planned : planTokens(requests, size.long, promptsYield);
}

function planTokens(requests: readonly StepRequest[], promptTokens: number, promptsYield: boolean): number[] {
  const planned = requests.map(({ readsPrompt, pendingTokens }) => (readsPrompt ? 0 : pendingTokens));
  const ranksWithToken = requests.filter(({ readsPrompt }) => !readsPrompt).map(({ rank }) => rank);
  const endRank = promptsYield
    ? Math.min(...ranksWithToken, Number.POSITIVE_INFINITY)
    : Number.POSITIVE_INFINITY;
  const prompts = [...requests.entries()].filter(
    ([, { readsPrompt, rank }]) => readsPrompt && rank < endRank,
  );
  let left = promptTokens;
  const byRank = Map.groupBy(prompts, ([, { rank }]) => rank);
  for (const rank of [...byRank.keys()].sort((a, b) => a - b)) {
    const byKey = [...Map.groupBy(byRank.get(rank) ?? [], ([, { key }]) => key).values()];
    const totals = byKey.map((group) => group.reduce((sum, [, { pendingTokens }]) => sum + pendingTokens, 0));
    for (const [at, ofKey] of divide(left, totals).entries()) {
      const group = byKey[at] ?? [];
      const shares = divide(
        ofKey,
        group.map(([, { pendingTokens }]) => pendingTokens),
      );
      for (const [position, [index]] of group.entries()) planned[index] = shares[position] ?? 0;
      left -= ofKey;
    }
  }
  return planned;
}

/** Divides an amount into equal parts, of which none exceeds its limit. What small limits leave over goes to the others. */
function divide(amount: number, limits: readonly number[]): number[] {
  const parts = limits.map(() => 0);
  let left = amount;
  const ascending = [...limits.entries()].sort(([, a], [, b]) => a - b);
  for (const [position, [index, limit]] of ascending.entries()) {
    const part = Math.min(limit, Math.ceil(left / (ascending.length - position)));
    parts[index] = part;
    left -= part;
  }
  return parts;
}

/** Divides the time between steps that read prompts and steps with tokens alone, see {@link TOKEN_TIME}. */
export class PromptTurns {
  #owedMs = 0;

  /** Whether prompts wait in the next step, because tokens have had less time. */
  get promptsYield(): boolean {
    return this.#owedMs > 0;
  }

  /**
   * Records a step.
   * @param requests what the step could do.
   * @param planned the result of {@link planStep} for them.
   * @param durationMs its duration on an idle machine.
   */
  record(requests: readonly StepRequest[], planned: readonly number[], durationMs: number): void {
    const prompts = [...requests.entries()].filter(([, { readsPrompt }]) => readsPrompt);
    const hasBoth = prompts.length > 0 && prompts.length < requests.length;
    const readsPrompt = prompts.some(([index]) => (planned[index] ?? 0) > 0);
    const owedMs = this.#owedMs + (readsPrompt ? TOKEN_TIME * durationMs : -durationMs);
    this.#owedMs = hasBoth ? Math.max(0, owedMs) : 0;
  }
}
