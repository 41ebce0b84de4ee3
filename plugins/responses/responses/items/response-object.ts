/** The response object of the Responses API (spec 2.3; openai-wire 6.7, 6.9). Pure. */

import type { Id } from '../../../../src/contract/core/id.ts';
import type { TokenUsage } from '../../../../src/contract/engines/text.ts';
import type { ResponseStatus } from '../../../../src/contract/stores/response-store.ts';
import { type Includable, type OutputItem, shownItem } from './output-items.ts';

/** Request fields that a response echoes, in wire form. */
export interface RequestEcho {
  readonly model: string;
  readonly instructions: string | null;
  readonly max_output_tokens: number | null;
  readonly max_tool_calls: number | null;
  readonly parallel_tool_calls: boolean;
  readonly previous_response_id: string | null;
  readonly prompt_cache_key: string | null;
  readonly reasoning: { readonly effort: string | null; readonly summary: string | null };
  readonly safety_identifier: string | null;
  readonly store: boolean;
  readonly temperature: number;
  readonly text: { readonly format: object; readonly verbosity: string };
  readonly tool_choice: string | object;
  readonly tools: readonly object[];
  readonly top_logprobs: number;
  readonly top_p: number;
  readonly truncation: 'auto' | 'disabled';
  readonly user: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Fields that do not change during a response. */
export interface ResponseHead {
  readonly id: Id<'resp_'>;
  /** Unix time in seconds. */
  readonly createdAt: number;
  readonly echo: RequestEcho;
}

export interface ResponseFailure {
  /** Values of `error.code` in OpenAI's SDK. */
  readonly code: 'server_error' | 'rate_limit_exceeded' | 'invalid_prompt';
  readonly message: string;
}

/** Progress of a response. */
export type ResponseProgress =
  | { readonly status: 'in_progress' }
  | { readonly status: 'completed'; readonly endedAt: number; readonly tokens: TokenUsage }
  | {
      readonly status: 'incomplete';
      /** Absent: the client disconnected. */
      readonly reason: 'max_output_tokens' | 'content_filter' | undefined;
      readonly tokens: TokenUsage | undefined;
    }
  | { readonly status: 'failed'; readonly error: ResponseFailure };

export type ResponseObject = ReturnType<typeof responseObject>;

/** Returns the complete object with all data of its items. */
export function responseObject(
  { id, createdAt, echo }: ResponseHead,
  output: readonly OutputItem[],
  progress: ResponseProgress,
) {
  const status: ResponseStatus = progress.status;
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status,
    completed_at: progress.status === 'completed' ? progress.endedAt : null,
    background: false,
    error: progress.status === 'failed' ? progress.error : null,
    incomplete_details:
      progress.status === 'incomplete' && progress.reason !== undefined ? { reason: progress.reason } : null,
    ...echo,
    conversation: null,
    output,
    // Omitted in progress, because the stream helper of OpenAI's SDK does not update a given text (R1).
    ...(status === 'in_progress' ? {} : { output_text: textOf(output) }),
    service_tier: 'default',
    usage: 'tokens' in progress && progress.tokens ? usageOf(progress.tokens) : null,
  } as const;
}

/** Returns the client view of a response. */
export function shownResponse<Response extends { readonly output: readonly OutputItem[] }>(
  response: Response,
  include: readonly Includable[],
): Response {
  return { ...response, output: response.output.map((item) => shownItem(item, include)) };
}

function textOf(output: readonly OutputItem[]): string {
  return output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');
}

function usageOf({ input, output, cached, reasoning }: TokenUsage) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
