/** Token usage of text generation: chat completions, responses and conversations. */

import type { UsageAmounts } from '../contract/accounts/calls.ts';
import type { TextRequest, TokenUsage } from '../contract/engines/text.ts';
import { characterTokens, textTokens } from '../kit/text/token-estimate.ts';

/** Tokens of a request and of its output. */
export type TextTokens = Pick<TokenUsage, 'input' | 'output'>;

/**
 * Returns an estimate for a generation that was interrupted.
 * @param characters length of the output in code points.
 */
export function estimatedTokens(request: Pick<TextRequest, 'messages'>, characters: number): TextTokens {
  let input = 0;
  for (const text of textsOf(request)) input += textTokens(text);
  return { input, output: characterTokens(characters) };
}

/**
 * Returns the usage to bill.
 * @param reserved the maximum usage of the call, if credits are reserved for it. The request has limits that keep it within its
 *   reservation, so that a higher count is an error of the server.
 */
export function textUsage({ input, output }: TextTokens, reserved: UsageAmounts | undefined): UsageAmounts {
  if (reserved === undefined) return { inputTokens: input, outputTokens: output };
  return {
    inputTokens: Math.min(input, reserved.inputTokens),
    outputTokens: Math.min(output, reserved.outputTokens),
  };
}

function* textsOf({ messages }: Pick<TextRequest, 'messages'>): Generator<string> {
  for (const message of messages) {
    if (message.role === 'user') {
      for (const part of message.parts) if (part.kind === 'text') yield part.text;
    } else if (message.text !== undefined) yield message.text;
    if (message.role === 'assistant') for (const call of message.toolCalls) yield call.arguments;
  }
}
