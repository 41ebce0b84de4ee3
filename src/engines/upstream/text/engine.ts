/**
 * A language model behind another server that speaks OpenAI's `/v1/chat/completions`: vLLM, SGLang, llama.cpp,
 * Ollama (partner-and-upstreams B). Each event leaves in the tick in which its bytes came.
 */

import type { Logger } from '../../../contract/core/logger.ts';
import type { UpstreamTextSettings } from '../../../contract/core/settings.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import type { ChatMessage, TextEngine, TextEvent, TextRequest } from '../../../contract/engines/text.ts';
import { textTokens } from '../../../kit/text/token-estimate.ts';
import { bodyText, mediaTypeOf } from '../client/body.ts';
import { eventData } from '../client/event-stream.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { explainRefusal, StreamOptionsRefused } from '../client/rejection.ts';
import { type UpstreamCall, UpstreamServer } from '../client/server.ts';
import { chatBody } from './chat-request.ts';
import { ChatAnswer } from './chat-response.ts';

/** How long the body may go on after its last event, in ms: read to its end, its connection can be used again. */
const LAST_BYTES_MS = 100;

export interface UpstreamTextOptions {
  readonly settings: UpstreamTextSettings;
  readonly log: Logger;
  readonly meter?: UpstreamMeter;
  /** How long the upstream may take until its first byte, and then between two portions. */
  readonly firstByteMs?: number;
  readonly idleMs?: number;
  /** Pause between two looks at an upstream that failed. */
  readonly probeMs?: number;
}

/** Makes the engine; nothing is sent before the first request. */
export function upstreamTextEngine(options: UpstreamTextOptions): TextEngine {
  return new UpstreamTextEngine(options);
}

class UpstreamTextEngine implements TextEngine {
  readonly contextTokens: number | undefined;
  readonly #model: string;
  readonly #server: UpstreamServer;
  readonly #firstByteMs: number;
  readonly #idleMs: number;
  /** Until the server refuses them. */
  #streamOptions = true;

  constructor(options: UpstreamTextOptions) {
    this.contextTokens = options.settings.contextTokens;
    this.#model = options.settings.model;
    this.#server = new UpstreamServer({ ...options, explain: explainRefusal });
    // A long prompt in a long queue has its first token late.
    this.#firstByteMs = options.firstByteMs ?? 300_000;
    this.#idleMs = options.idleMs ?? 60_000;
  }

  async *generate(request: TextRequest, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    signal.throwIfAborted();
    const limits = { firstByteMs: this.#firstByteMs, idleMs: this.#idleMs };
    const send = (call: UpstreamCall) => this.#send(call, request);
    yield* this.#server.call(limits, signal, async function* (call) {
      const response = await send(call);
      const answer = new ChatAnswer(() => estimatedTokens(request.messages));
      const portions = call.portionsOf(response);
      if (mediaTypeOf(response) === 'application/json') {
        yield* answer.read(await bodyText(portions));
        yield answer.end();
        return;
      }
      const events = eventData(portions);
      while (!answer.done) {
        const { value, done } = await events.next();
        if (done) break;
        yield* answer.read(value);
      }
      yield answer.end();
      await Promise.race([events.next().catch(() => undefined), Bun.sleep(LAST_BYTES_MS)]);
    });
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Servers that refuse to count tokens in a stream are not asked to again. */
  async #send(call: UpstreamCall, request: TextRequest): Promise<Response> {
    const ask = (streamOptions: boolean) =>
      call.post('/chat/completions', JSON.stringify(chatBody(this.#model, request, { streamOptions })), {
        'content-type': 'application/json',
        accept: 'text/event-stream',
      });
    try {
      return await ask(this.#streamOptions);
    } catch (error) {
      if (!(error instanceof StreamOptionsRefused) || !this.#streamOptions) throw error;
      const response = await ask(false);
      // Only now is it known to have been about them, and not about what the caller wrote.
      this.#streamOptions = false;
      return response;
    }
  }
}

/** For servers that do not count. */
function estimatedTokens(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + textTokens(textOf(message)), 0);
}

function textOf(message: ChatMessage): string {
  switch (message.role) {
    case 'user':
      return message.parts.map((part) => (part.kind === 'text' ? part.text : '')).join(' ');
    case 'assistant':
      return [message.text ?? '', ...message.toolCalls.map((call) => call.name + call.arguments)].join(' ');
    default:
      return message.text;
  }
}
