/**
 * Reads responses of `/v1/chat/completions`, complete or streamed: OpenAI's format and the variants of vLLM, SGLang,
 * llama.cpp and Ollama (partner-and-upstreams B).
 */

import type { ServiceError } from '../../../contract/core/error.ts';
import { newId } from '../../../contract/core/id.ts';
import type { FinishReason, TextEvent, TokenUsage } from '../../../contract/engines/text.ts';
import { characterTokens } from '../../../kit/text/token-estimate.ts';
import { codePoints } from '../../../kit/validation/code-points.ts';
import { explainRejection } from '../client/explain-rejection.ts';
import { upstreamError } from '../client/upstream-error.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../client/wire-values.ts';

const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};
/** Maximum length of a response in characters, including reasoning and tool calls. It is buffered by the caller. */
export const MAX_RESPONSE_LENGTH = 4 * 1024 * 1024;
/** Maximum number of tool calls in a response. */
export const MAX_CALLS = 1000;
/** Finish reasons of an aborted response. */
const ABORT_REASONS: ReadonlySet<string> = new Set(['abort', 'error']);

/** Tokens that separate the parts of a response: control tokens, the syntax of a tool call. */
const SEPARATOR_TOKENS = 64;
const CALL_TOKENS = 64;

/** What is known of the token counts of a response without the report of its server. */
export interface ExpectedUsage {
  /** Estimate of the input tokens, for servers that do not report usage. */
  estimatedInput(): number;
  /** No prompt of this length has more tokens. */
  readonly maxInput: number;
  /** Maximum of reasoning tokens whose text the server does not send. */
  readonly maxHiddenReasoning: number;
}

/** A tool call that is being streamed. */
interface PendingCall {
  /** Index from the server; undefined if it sends none. */
  readonly serverIndex: number | undefined;
  /** Id from the server; may be empty. */
  readonly id: string;
  /** Position among the calls of the response. */
  readonly index: number;
  /** Whether the name has been received. */
  hasName: boolean;
  /** Arguments that were received before the name. */
  bufferedArguments: string;
}

/** Converts one response to events. */
export class ChatResponseReader {
  readonly #expected: ExpectedUsage;
  readonly #calls: PendingCall[] = [];
  readonly #ids = new Set<string>();
  #usage: Fields | undefined;
  #reason: FinishReason | undefined;
  #isDone = false;
  #length = 0;
  /** UTF-8 bytes of all text: a token has at least one. */
  #bytes = 0;
  #hasImplausibleUsage = false;
  /** Code points, for servers that do not report usage. */
  readonly #characters = { text: 0, reasoning: 0, calls: 0 };

  constructor(expected: ExpectedUsage) {
    this.#expected = expected;
  }

  /** Whether the server reported more tokens than the prompt or the response can have. They were estimated instead. */
  get hasImplausibleUsage(): boolean {
    return this.#hasImplausibleUsage;
  }

  /** Whether the server has sent `[DONE]`. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * Reads the data of one event of a stream, or a complete response.
   * @throws ServiceError `upstream` for an error event or invalid data, and when the response exceeds
   *   {@link MAX_RESPONSE_LENGTH} or {@link MAX_CALLS}.
   */
  readData(data: string): TextEvent[] {
    if (data.trim() === '[DONE]') {
      this.#isDone = true;
      return [];
    }
    const chunk = parseFields(data);
    if (chunk.error) throw streamError(chunk.error, data);
    if (chunk.usage) this.#usage = fieldsOf(chunk.usage);
    const choice = listOf(chunk.choices).find(({ index }) => index === undefined || index === 0);
    if (choice === undefined) return [];
    const events = this.#deltaEvents(fieldsOf(choice.delta ?? choice.message));
    if (typeof choice.finish_reason === 'string') this.#setFinishReason(choice.finish_reason);
    return events;
  }

  /**
   * Returns the last event, with finish reason and usage.
   * @throws ServiceError `upstream` when the response is incomplete or empty.
   */
  finish(): TextEvent {
    const hasContent = this.#calls.length > 0 || this.#length > 0;
    if (this.#reason === undefined && !(this.#isDone && hasContent))
      throw upstreamError('the response ended prematurely');
    const reason = this.#reason ?? 'stop';
    // Some servers report `stop` after a forced call, others after every call.
    const endsWithCall = this.#calls.length > 0 && reason === 'stop';
    return { kind: 'end', reason: endsWithCall ? 'tool_calls' : reason, tokens: this.#tokens() };
  }

  #setFinishReason(reason: string): void {
    if (ABORT_REASONS.has(reason)) throw upstreamError('it aborted the response');
    this.#reason = FINISH_REASONS[reason] ?? 'stop';
  }

  #deltaEvents(delta: Fields): TextEvent[] {
    const events: TextEvent[] = [];
    const reasoning = textOf(delta.reasoning_content) || textOf(delta.reasoning);
    if (reasoning !== '') {
      this.#count('reasoning', reasoning);
      events.push({ kind: 'reasoning', text: reasoning });
    }
    const text = textOf(delta.content);
    if (text !== '') {
      this.#count('text', text);
      events.push({ kind: 'text', text });
    }
    const refusal = textOf(delta.refusal);
    if (refusal !== '') {
      this.#count('text', refusal);
      events.push({ kind: 'refusal', text: refusal });
    }
    for (const call of listOf(delta.tool_calls)) events.push(...this.#toolCallEvents(call));
    return events;
  }

  #toolCallEvents(delta: Fields): TextEvent[] {
    const fields = fieldsOf(delta.function);
    const call = this.#callOf(delta);
    const name = textOf(fields.name);
    const args =
      typeof fields.arguments === 'object' && fields.arguments !== null
        ? JSON.stringify(fields.arguments)
        : textOf(fields.arguments);
    this.#count('calls', args);
    if (!call.hasName && name === '') {
      call.bufferedArguments += args;
      return [];
    }
    const events: TextEvent[] = [];
    if (!call.hasName) {
      call.hasName = true;
      this.#count('calls', name);
      events.push({ kind: 'tool_call', index: call.index, id: this.#idOf(call), name });
    }
    const text = call.bufferedArguments + args;
    call.bufferedArguments = '';
    if (text !== '') events.push({ kind: 'tool_arguments', index: call.index, text });
    return events;
  }

  /**
   * The call that a delta continues, or a new one. Servers identify calls by `index`, by `id` or by both. Some send
   * index 0 for all calls, and some reuse ids.
   */
  #callOf(delta: Fields): PendingCall {
    const id = textOf(delta.id);
    const serverIndex = typeof delta.index === 'number' ? delta.index : undefined;
    const existing = this.#calls.findLast(
      (call) =>
        (serverIndex === undefined || call.serverIndex === serverIndex) &&
        (id === '' || call.id === '' || call.id === id),
    );
    if (existing !== undefined) return existing;
    if (this.#calls.length === MAX_CALLS) throw upstreamError('the response contains too many tool calls');
    const call = { serverIndex, id, index: this.#calls.length, hasName: false, bufferedArguments: '' };
    this.#calls.push(call);
    return call;
  }

  /** The id of the server if it is unique, otherwise a new one. */
  #idOf({ id }: PendingCall): string {
    const uniqueId = id === '' || this.#ids.has(id) ? newId('call_') : id;
    this.#ids.add(uniqueId);
    return uniqueId;
  }

  #count(kind: 'text' | 'reasoning' | 'calls', text: string): void {
    this.#length += text.length;
    if (this.#length > MAX_RESPONSE_LENGTH) throw upstreamError('the response is too long');
    this.#bytes += Buffer.byteLength(text);
    this.#characters[kind] += codePoints(text);
  }

  /** The count, unless it exceeds the maximum. */
  #plausible(count: number | undefined, max: number): number | undefined {
    if (count === undefined || count <= max) return count;
    this.#hasImplausibleUsage = true;
    return undefined;
  }

  #tokens(): TokenUsage {
    const usage = this.#usage ?? {};
    const { maxInput, maxHiddenReasoning } = this.#expected;
    const input = this.#plausible(countOf(usage.prompt_tokens), maxInput) ?? this.#expected.estimatedInput();
    const { text, reasoning, calls } = this.#characters;
    const reasoningEstimate = characterTokens(reasoning);
    const reported = countOf(fieldsOf(usage.completion_tokens_details).reasoning_tokens);
    const hidden = reasoning === 0 ? Math.min(reported ?? 0, maxHiddenReasoning) : 0;
    const maxOutput = this.#bytes + SEPARATOR_TOKENS + CALL_TOKENS * this.#calls.length + hidden;
    const output =
      this.#plausible(countOf(usage.completion_tokens), maxOutput) ??
      characterTokens(text) + characterTokens(calls) + reasoningEstimate + hidden;
    const cached = countOf(fieldsOf(usage.prompt_tokens_details).cached_tokens) ?? 0;
    const reasoningTokens = reported ?? reasoningEstimate;
    return { input, output, cached: Math.min(cached, input), reasoning: Math.min(reasoningTokens, output) };
  }
}

/** The error of a stream. After the headers, servers report a rejection as an event with the status as its code. */
function streamError(error: unknown, data: string): ServiceError {
  const { code } = fieldsOf(error);
  const rejection = typeof code === 'number' ? explainRejection(code, data) : undefined;
  return rejection ?? upstreamError('it reported an error during the response');
}

function parseFields(data: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw upstreamError('the response is not a chat completion');
  }
  return fieldsOf(value);
}

/** A token count, if the value is a plausible one. */
function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
