/**
 * Distribution of a decoding step over responses (continuous batching with chunked prefill). Every response that has read its
 * prompt gets its next token in each step. The prompts share the rest of the step: lower ranks first, equal ranks in equal
 * parts. A long prompt therefore neither stalls the tokens nor the prompts of others. Because a step with prompts takes several times
 * as long as one with tokens alone, prompts are read in half of the time at most while responses wait for tokens.
 */

export interface StepRequest {
  /** Lower ranks are served first. */
  readonly rank: number;
  /** Tokens to evaluate: the rest of the prompt, or the last token of the response. */
  readonly pendingTokens: number;
  /** Whether the pending tokens belong to the prompt. */
  readonly readsPrompt: boolean;
}

/**
 * Returns the number of tokens of each response in the next step, in the order of the responses.
 * @param promptTokens maximum prompt tokens of the step, at least 1.
 * @param promptsYield whether prompts wait if a response with the same or a lower rank gets a token, see {@link PromptTurns}.
 */
export function planStep(
  requests: readonly StepRequest[],
  promptTokens: number,
  promptsYield = false,
): number[] {
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
    // Shortest first, so that the unused part of a share is distributed over the longer prompts.
    const group = (byRank.get(rank) ?? []).sort(([, a], [, b]) => a.pendingTokens - b.pendingTokens);
    for (const [position, [index, { pendingTokens }]] of group.entries()) {
      const share = Math.ceil(left / (group.length - position));
      const tokens = Math.min(pendingTokens, share);
      planned[index] = tokens;
      left -= tokens;
    }
  }
  return planned;
}

/** Divides the time between steps that read prompts and steps with tokens alone, in equal parts. */
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
   */
  record(requests: readonly StepRequest[], planned: readonly number[], durationMs: number): void {
    const prompts = [...requests.entries()].filter(([, { readsPrompt }]) => readsPrompt);
    const hasBoth = prompts.length > 0 && prompts.length < requests.length;
    const readsPrompt = prompts.some(([index]) => (planned[index] ?? 0) > 0);
    const owedMs = this.#owedMs + (readsPrompt ? durationMs : -durationMs);
    this.#owedMs = hasBoth ? Math.max(0, owedMs) : 0;
  }
}
