/** Converts engine events to a chat completion, complete or in chunks (openai-wire 4.2, 4.3). Pure. */

import type { Id } from '../../../src/contract/core/id.ts';
import type { FinishReason, TextEvent, TokenUsage } from '../../../src/contract/engines/text.ts';

/** Fields shared by all objects of one completion. */
export interface CompletionHead {
  readonly id: Id<'chatcmpl-'>;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
}

interface WireCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; arguments: string };
}

/** Builds a complete chat completion. */
export class CompletionBuilder {
  readonly #head: CompletionHead;
  #text = '';
  #reasoning = '';
  #refusal: string | null = null;
  readonly #calls: WireCall[] = [];

  constructor(head: CompletionHead) {
    this.#head = head;
  }

  /** Returns the completion after the final event, undefined before. */
  add(event: TextEvent) {
    switch (event.kind) {
      case 'text':
        this.#text += event.text;
        break;
      case 'reasoning':
        this.#reasoning += event.text;
        break;
      case 'refusal':
        this.#refusal = (this.#refusal ?? '') + event.text;
        break;
      case 'tool_call':
        this.#calls[event.index] = {
          id: event.id,
          type: 'function',
          function: { name: event.name, arguments: '' },
        };
        break;
      case 'tool_arguments': {
        const call = this.#calls[event.index];
        if (call) call.function.arguments += event.text;
        break;
      }
      case 'end':
        return this.#completion(event.reason, event.tokens);
      default:
        event satisfies never;
    }
    return undefined;
  }

  #completion(reason: FinishReason, tokens: TokenUsage) {
    const message = {
      role: 'assistant',
      content: this.#text === '' && (this.#calls.length > 0 || this.#refusal !== null) ? null : this.#text,
      refusal: this.#refusal,
      annotations: [],
      ...(this.#reasoning === '' ? {} : { reasoning_content: this.#reasoning }),
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
    } as const;
    return {
      ...headFields(this.#head, 'chat.completion'),
      choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
      usage: completionUsage(tokens),
    };
  }
}

/** Converts engine events to chunks. */
export class ChunkBuilder {
  readonly #head: CompletionHead;
  readonly #includeUsage: boolean;
  #hasStarted = false;

  /** @param includeUsage whether the last chunk contains the usage; it is null in the other chunks. */
  constructor(head: CompletionHead, includeUsage: boolean) {
    this.#head = head;
    this.#includeUsage = includeUsage;
  }

  /** Returns the chunks of one event, in order. */
  toChunks(event: TextEvent): object[] {
    const chunks: object[] = [];
    if (!this.#hasStarted) {
      // Clients require a role in the first chunk.
      const content = event.kind === 'tool_call' ? null : '';
      chunks.push(this.#chunk({ role: 'assistant', content, refusal: null }));
      this.#hasStarted = true;
    }
    if (event.kind !== 'end') return [...chunks, this.#chunk(toDelta(event))];
    chunks.push(this.#chunk({}, event.reason));
    if (this.#includeUsage) {
      const head = headFields(this.#head, 'chat.completion.chunk');
      chunks.push({ ...head, choices: [], usage: completionUsage(event.tokens) });
    }
    return chunks;
  }

  #chunk(delta: object, reason: FinishReason | null = null) {
    return {
      ...headFields(this.#head, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      ...(this.#includeUsage ? { usage: null } : {}),
    };
  }
}

function toDelta(event: Exclude<TextEvent, { kind: 'end' }>) {
  switch (event.kind) {
    case 'text':
      return { content: event.text };
    case 'reasoning':
      return { reasoning_content: event.text };
    case 'refusal':
      return { refusal: event.text };
    case 'tool_call': {
      const { index, id, name } = event;
      return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] };
    }
    case 'tool_arguments':
      return { tool_calls: [{ index: event.index, function: { arguments: event.text } }] };
  }
}

function headFields({ id, created, model }: CompletionHead, object: string) {
  return { id, object, created, model };
}

function completionUsage({ input, output, cached, reasoning }: TokenUsage) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
