/**
 * Distribution of a decoding step over responses (continuous batching with chunked prefill). Every response that has read its
 * prompt gets its next token in each step. The prompts share the rest of the step: lower ranks first, equal ranks in equal
 * parts. A long prompt therefore neither stalls the tokens nor the prompts of others.
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
 */
export function planStep(requests: readonly StepRequest[], promptTokens: number): number[] {
  const planned = requests.map(({ readsPrompt, pendingTokens }) => (readsPrompt ? 0 : pendingTokens));
  const prompts = [...requests.entries()].filter(([, { readsPrompt }]) => readsPrompt);
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
