/**
 * What servers answer at `/v1/chat/completions`, whole or in chunks: OpenAI's form, and what vLLM, SGLang,
 * llama.cpp and Ollama make of it (partner-and-upstreams B).
 */

import type { ServiceError } from '../../../contract/core/error.ts';
import { newId } from '../../../contract/core/id.ts';
import type { FinishReason, TextEvent, TokenUsage } from '../../../contract/engines/text.ts';
import { characterTokens } from '../../../kit/text/token-estimate.ts';
import { codePoints } from '../../../kit/validation/code-points.ts';
import { upstreamError } from '../client/upstream-error.ts';
import { explainRejection } from '../client/explain-rejection.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../client/wire-values.ts';

const ENDS: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};
/** Most characters of one answer with all its thoughts and calls: who made it keeps it, until it is sent or stored. */
export const MAX_RESPONSE_LENGTH = 4 * 1024 * 1024;
export const MAX_CALLS = 1000;
/** Words for an answer that was given up. */
const FAULTS: ReadonlySet<string> = new Set(['abort', 'error']);

/** A call of the answer. */
interface OpenCall {
  /** Where the server keeps it; undefined when it does not say. */
  readonly place: number | undefined;
  /** The server's id, or nothing. */
  readonly id: string;
  /** Its place among the calls of the answer. */
  readonly index: number;
  /** Whether its name was told. */
  named: boolean;
  /** Arguments that came before its name. */
  held: string;
}

/** Puts one answer together. */
export class ChatResponseReader {
  readonly #estimatedInput: () => number;
  readonly #calls: OpenCall[] = [];
  readonly #ids = new Set<string>();
  #usage: Fields | undefined;
  #reason: FinishReason | undefined;
  #done = false;
  #length = 0;
  /** Code points, for servers that do not count tokens. */
  readonly #characters = { text: 0, thoughts: 0, calls: 0 };

  /** @param estimatedInput tokens of the question, for servers that do not count. */
  constructor(estimatedInput: () => number) {
    this.#estimatedInput = estimatedInput;
  }

  /** Whether the server said that nothing follows. */
  get done(): boolean {
    return this.#done;
  }

  /**
   * What one event of a stream says, or a whole answer.
   * @throws ServiceError `upstream` for what tells of a failure or is no answer, and beyond {@link MAX_RESPONSE_LENGTH}
   *   and {@link MAX_CALLS}.
   */
  read(data: string): TextEvent[] {
    if (data.trim() === '[DONE]') {
      this.#done = true;
      return [];
    }
    const chunk = parsed(data);
    if (chunk.error) throw failureOf(chunk.error, data);
    if (chunk.usage) this.#usage = fieldsOf(chunk.usage);
    const choice = listOf(chunk.choices).find(({ index }) => index === undefined || index === 0);
    if (choice === undefined) return [];
    const events = this.#said(fieldsOf(choice.delta ?? choice.message));
    if (typeof choice.finish_reason === 'string') this.#finish(choice.finish_reason);
    return events;
  }

  /**
   * The last event.
   * @throws ServiceError `upstream` when the answer broke off, or there was none.
   */
  end(): TextEvent {
    const said = this.#calls.length > 0 || this.#length > 0;
    if (this.#reason === undefined && !(this.#done && said)) throw upstreamError('its answer broke off');
    const reason = this.#reason ?? 'stop';
    // A call that the server forced ends with `stop` at some, and so does every call at others.
    const called = this.#calls.length > 0 && reason === 'stop';
    return { kind: 'end', reason: called ? 'tool_calls' : reason, tokens: this.#tokens() };
  }

  #finish(word: string): void {
    if (FAULTS.has(word)) throw upstreamError('it gave its answer up');
    this.#reason = ENDS[word] ?? 'stop';
  }

  #said(delta: Fields): TextEvent[] {
    const events: TextEvent[] = [];
    const thought = textOf(delta.reasoning_content) || textOf(delta.reasoning);
    if (thought !== '') {
      this.#count('thoughts', thought);
      events.push({ kind: 'reasoning', text: thought });
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
    for (const call of listOf(delta.tool_calls)) events.push(...this.#called(call));
    return events;
  }

  #called(delta: Fields): TextEvent[] {
    const told = fieldsOf(delta.function);
    const call = this.#callOf(delta);
    const name = textOf(told.name);
    const args =
      typeof told.arguments === 'object' && told.arguments !== null
        ? JSON.stringify(told.arguments)
        : textOf(told.arguments);
    this.#count('calls', args);
    if (!call.named && name === '') {
      call.held += args;
      return [];
    }
    const events: TextEvent[] = [];
    if (!call.named) {
      call.named = true;
      this.#count('calls', name);
      events.push({ kind: 'tool_call', index: call.index, id: this.#idOf(call), name });
    }
    const text = call.held + args;
    call.held = '';
    if (text !== '') events.push({ kind: 'tool_arguments', index: call.index, text });
    return events;
  }

  /**
   * The call that a delta goes on with, or a new one. Servers tell calls apart by `index`, by `id`, or by both;
   * some give every call the index 0, and some repeat the id.
   */
  #callOf(delta: Fields): OpenCall {
    const id = textOf(delta.id);
    const place = typeof delta.index === 'number' ? delta.index : undefined;
    const known = this.#calls.findLast(
      (call) =>
        (place === undefined || call.place === place) && (id === '' || call.id === '' || call.id === id),
    );
    if (known !== undefined) return known;
    if (this.#calls.length === MAX_CALLS) throw upstreamError('its answer has too many calls');
    const call = { place, id, index: this.#calls.length, named: false, held: '' };
    this.#calls.push(call);
    return call;
  }

  /** The server's id where it gives one that is not taken. */
  #idOf({ id }: OpenCall): string {
    const own = id === '' || this.#ids.has(id) ? newId('toolCall') : id;
    this.#ids.add(own);
    return own;
  }

  #count(kind: 'text' | 'thoughts' | 'calls', text: string): void {
    this.#length += text.length;
    if (this.#length > MAX_RESPONSE_LENGTH) throw upstreamError('its answer is too long');
    this.#characters[kind] += codePoints(text);
  }

  #tokens(): TokenUsage {
    const usage = this.#usage ?? {};
    const input = countOf(usage.prompt_tokens) ?? this.#estimatedInput();
    const { text, thoughts, calls } = this.#characters;
    const thought = characterTokens(thoughts);
    const output =
      countOf(usage.completion_tokens) ?? characterTokens(text) + characterTokens(calls) + thought;
    const cached = countOf(fieldsOf(usage.prompt_tokens_details).cached_tokens) ?? 0;
    const reasoning = countOf(fieldsOf(usage.completion_tokens_details).reasoning_tokens) ?? thought;
    return { input, output, cached: Math.min(cached, input), reasoning: Math.min(reasoning, output) };
  }
}

/** Servers that have sent their status tell a refusal in the stream, with the status that it would have had. */
function failureOf(error: unknown, data: string): ServiceError {
  const { code } = fieldsOf(error);
  const refusal = typeof code === 'number' ? explainRejection(code, data) : undefined;
  return refusal ?? upstreamError('it failed in the middle of its answer');
}

function parsed(data: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw upstreamError('it answered with something else than a chat completion');
  }
  return fieldsOf(value);
}

/** A count that can be believed. */
function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
