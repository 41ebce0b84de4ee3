/**
 * Text generation by an upstream server with OpenAI's `/v1/chat/completions`: vLLM, SGLang, llama.cpp, Ollama
 * (partner-and-upstreams B). Each event is yielded in the event-loop tick in which its bytes arrive.
 */

import type { Logger } from '../../../contract/core/logger.ts';
import type { ReadyReport } from '../../../contract/engines/engine.ts';
import type { ChatMessage, TextEngine, TextEvent, TextRequest } from '../../../contract/engines/text.ts';
import { textTokens } from '../../../kit/text/token-estimate.ts';
import { PUBLIC_URLS, type UrlRules } from '../../../outbound/public-url.ts';
import { readEvents } from '../client/event-stream.ts';
import { explainRejection, StreamOptionsError } from '../client/explain-rejection.ts';
import type { UpstreamMeter } from '../client/metrics.ts';
import { mediaTypeOf, readBodyText } from '../client/response-body.ts';
import { type UpstreamCall, UpstreamServer } from '../client/server.ts';
import type { UpstreamTextSettings } from '../settings.ts';
import { chatRequestBody } from './chat-request.ts';
import { ChatResponseReader, type ExpectedUsage } from './chat-response.ts';
import { requirePublicImages } from './image-urls.ts';

/** Tokens of instructions that a chat template may add. */
const TEMPLATE_TOKENS = 4096;
/** Tokens of an image at the maximum resolution of open models. */
const IMAGE_TOKENS = 16_384;
/** Reasoning without text, if neither the request nor the model has a limit. */
const MAX_HIDDEN_REASONING = 131_072;
/** Maximum wait for the end of the body after the last event. A connection can be reused only after the end. */
const BODY_END_TIMEOUT_MS = 100;

export interface UpstreamTextOptions {
  readonly settings: UpstreamTextSettings;
  readonly log: Logger;
  readonly meter?: UpstreamMeter;
  /** Maximum time until the first event, or until the end of a response without events, default 300,000 ms. */
  readonly firstPartMs?: number;
  /** Maximum time between two events, default 60,000 ms. */
  readonly idleMs?: number;
  /** Interval of the health checks of an unavailable server. */
  readonly probeMs?: number;
  /** Rules of the URLs of images; replaced in tests. */
  readonly urlRules?: UrlRules;
}

/** Creates the engine. Nothing is sent before the first request. */
export function upstreamTextEngine(options: UpstreamTextOptions): TextEngine {
  return new UpstreamTextEngine(options);
}

class UpstreamTextEngine implements TextEngine {
  readonly contextTokens: number | undefined;
  readonly #model: string;
  readonly #server: UpstreamServer;
  readonly #firstPartMs: number;
  readonly #idleMs: number;
  readonly #log: Logger;
  readonly #allowsAnyImage: boolean;
  readonly #urlRules: UrlRules;
  /** Set to false when the server rejects `stream_options`. */
  #supportsStreamOptions = true;

  constructor(options: UpstreamTextOptions) {
    this.contextTokens = options.settings.contextTokens;
    this.#model = options.settings.model;
    this.#log = options.log;
    this.#allowsAnyImage = options.settings.imageUrls === 'any';
    this.#urlRules = options.urlRules ?? PUBLIC_URLS;
    this.#server = new UpstreamServer({ ...options, explain: explainRejection });
    // The first token of a long prompt may be late, in particular if the server has a queue.
    this.#firstPartMs = options.firstPartMs ?? 300_000;
    this.#idleMs = options.idleMs ?? 60_000;
  }

  async *generate(request: TextRequest, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    signal.throwIfAborted();
    if (!this.#allowsAnyImage) await requirePublicImages(request.messages, this.#urlRules, signal);
    const timeouts = { firstPartMs: this.#firstPartMs, idleMs: this.#idleMs };
    const send = (call: UpstreamCall) => this.#send(call, request);
    const expect = (sentBytes: number) => expectedUsage(request, sentBytes, this.contextTokens);
    const finish = (reader: ChatResponseReader) => this.#finish(reader);
    yield* this.#server.call(timeouts, signal, async function* (call) {
      const { response, sentBytes } = await send(call);
      const reader = new ChatResponseReader(expect(sentBytes));
      const chunks = call.readChunks(response);
      if (mediaTypeOf(response) === 'application/json') {
        yield* reader.readData(await readBodyText(chunks));
        yield finish(reader);
        return;
      }
      const events = readEvents(chunks);
      while (!reader.isDone) {
        const { value, done } = await events.next();
        if (done) break;
        call.progressed();
        yield* reader.readData(value);
      }
      yield finish(reader);
      await Promise.race([events.next().catch(() => undefined), Bun.sleep(BODY_END_TIMEOUT_MS)]);
    });
  }

  /** The last event. A report of impossible token counts is a defect of the server, which must not be charged. */
  #finish(reader: ChatResponseReader): TextEvent {
    const end = reader.finish();
    if (reader.hasImplausibleUsage) {
      this.#log.warn('upstream reported more tokens than possible; they were estimated', {
        model: this.#model,
      });
    }
    return end;
  }

  ready(): ReadyReport {
    return this.#server.ready();
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** Repeats the request without `stream_options` if the server rejects them. */
  async #send(
    call: UpstreamCall,
    request: TextRequest,
  ): Promise<{ readonly response: Response; readonly sentBytes: number }> {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const send = async (streamOptions: boolean) => {
      const body = JSON.stringify(chatRequestBody(this.#model, request, { streamOptions }));
      const response = await call.post('/chat/completions', body, headers);
      return { response, sentBytes: Buffer.byteLength(body) };
    };
    try {
      return await send(this.#supportsStreamOptions);
    } catch (error) {
      if (!(error instanceof StreamOptionsError) || !this.#supportsStreamOptions) throw error;
      const sent = await send(false);
      // The success confirms that `stream_options` was the cause of the rejection.
      this.#supportsStreamOptions = false;
      return sent;
    }
  }
}

function expectedUsage(
  { messages, maxTokens }: TextRequest,
  sentBytes: number,
  contextTokens: number | undefined,
): ExpectedUsage {
  const images = messages.flatMap((message) =>
    message.role === 'user' ? message.parts.filter(({ kind }) => kind === 'image') : [],
  );
  return {
    estimatedInput: () => estimatedTokens(messages),
    // Chat templates may write JSON with more white space.
    maxInput: TEMPLATE_TOKENS + 2 * sentBytes + IMAGE_TOKENS * images.length,
    maxHiddenReasoning: maxTokens ?? contextTokens ?? MAX_HIDDEN_REASONING,
  };
}

/** Token estimate for servers that do not report usage. */
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
