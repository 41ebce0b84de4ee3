/**
 * Client of one language model worker. A fair semaphore distributes its slots over fairness keys. Each priority has its own
 * queue limit, of which one key may use half.
 */

import { fileURLToPath } from 'node:url';
import { invalidRequest, ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { InferenceSettings } from '../../../contract/core/settings.ts';
import type { Priority } from '../../../contract/engines/engine.ts';
import type { PromptStart, TextEvent, TextRequest } from '../../../contract/engines/text.ts';
import type { AudioLoad } from '../../../inference/audio-load.ts';
import { SupervisedProcess } from '../../../inference/workers/supervised-process.ts';
import { systemClock } from '../../../kit/clock.ts';
import { FairSemaphore } from '../../../kit/limits/fair-semaphore.ts';
import { requireClassSlot } from '../../../kit/limits/queue-slots.ts';
import type { LlamaModelSettings } from '../settings.ts';
import { buildGrammar, buildPrompt, type LlamaPrompt } from '../shared/prompt.ts';
import type { LlamaCommand, LlamaReply, LoadedLlama, LoadLlama } from '../shared/protocol.ts';
import { minTokens, type TokenCount } from '../shared/token-bounds.ts';
import { AudioPause } from './audio-pause.ts';
import { PendingResponse } from './pending-response.ts';
import type { LlamaWorkerMeter } from './worker-metrics.ts';

type GenerateCommand = Extract<LlamaCommand, { kind: 'generate' }>;

const WORKER_ENTRY = fileURLToPath(new URL('../worker/main.ts', import.meta.url));

/** Loading a large file from a slow disk takes minutes. */
const LOAD_TIMEOUT_MS = 600_000;
/** Maximum time to sample one token, which may be slow with a complex grammar. */
const TOKEN_TIMEOUT_MS = 20_000;
/** Maximum factor by which a token may take longer than at startup, because the machine may be under higher load. */
const SLOWDOWN = 10;
/** The same factor for a low-priority worker. */
const LOW_PRIORITY_SLOWDOWN = 1000;
const RETRY_AFTER_S = 2;
/** Lower ranks are served first. */
const PRIORITY_RANKS: Readonly<Record<Priority, number>> = { realtime: 0, interactive: 1, batch: 2 };
const PRIORITY_COUNT = Object.keys(PRIORITY_RANKS).length;
/** Messages that prove progress of the model. A worker may convert prompts to tokens while inference hangs. */
const PROGRESS: ReadonlySet<LlamaReply['kind']> = new Set(['events', 'finished', 'cancelled', 'failed']);
/** Messages of the user with no common start. Templates require one. */
const UNKNOWN_MESSAGES = ['.', 'A'] as const;
/** llama.cpp uses 32-bit seeds; -1 means random. */
const SEEDS = 2 ** 31;

export interface LlamaWorkerOptions {
  /** Path of the GGUF file. */
  readonly model: string;
  readonly settings: LlamaModelSettings;
  readonly inference: InferenceSettings;
  readonly log: Logger;
  /** Records requests and crashes. */
  readonly meter?: LlamaWorkerMeter;
  /** Work for which the model pauses. Absent: none. */
  readonly audioLoad?: AudioLoad | undefined;
  /** Whether the worker runs at the lowest CPU priority. */
  readonly lowPriority: boolean;
  /** Jinja template that replaces the template of the model file. */
  readonly chatTemplate?: string;
  /** Entry file of the worker; overridden in tests. */
  readonly entry?: string;
  readonly loadTimeoutMs?: number;
  /** The worker is killed when it makes no progress for this time, in addition to the time for prompt processing. */
  readonly tokenTimeoutMs?: number;
}

/** Converts a prompt to tokens, when it is its turn. */
type Convert = (prompt: LlamaPrompt) => Promise<Uint32Array>;

interface Work {
  readonly request: TextRequest;
  readonly prompt: LlamaPrompt;
  /** Description of the model. */
  readonly known: LoadedLlama;
  /** The tokens to which the model responds. */
  readonly convert: (tokens: Convert) => Promise<Uint32Array>;
}

export class LlamaWorkerClient {
  readonly #options: LlamaWorkerOptions;
  readonly #process: SupervisedProcess<LoadLlama, LoadedLlama, LlamaCommand, LlamaReply>;
  readonly #slots: FairSemaphore;
  /** The worker starts no step while it converts a piece of a prompt, so it converts one prompt at a time, in turn by key. */
  readonly #conversions: FairSemaphore;
  /** All pending responses, including those that wait for a slot. */
  readonly #responses = new Map<number, PendingResponse<LlamaReply>>();
  /** All responses that the worker is processing, including cancelled ones: a hanging worker must be detected. */
  readonly #work = new Map<number, PendingResponse<LlamaReply>>();
  /** Prompt processing time of one token, as measured at startup. */
  #tokenMs = 0;
  /** Time of the last progress, or of the last start of work after idling. */
  #aliveAtMs = 0;
  #lastId = 0;
  #closed = false;
  readonly #pause: AudioPause;
  readonly #unsubscribe: (() => void) | undefined;

  constructor(options: LlamaWorkerOptions) {
    this.#options = options;
    const { settings, inference, model, lowPriority } = options;
    const { slots, contextTokens } = settings;
    // One key may use half of the slots, so that others get at least a third of the throughput and need not wait for the end
    // of a long response.
    const maxPerKey = Math.ceil(slots / 2);
    this.#slots = new FairSemaphore({
      maxConcurrent: slots,
      maxConcurrentPerKey: maxPerKey,
      maxQueued: PRIORITY_COUNT * this.#maxPending,
    });
    this.#conversions = new FairSemaphore({
      maxConcurrent: 1,
      maxConcurrentPerKey: 1,
      maxQueued: PRIORITY_COUNT * this.#maxPending,
    });
    this.#process = new SupervisedProcess({
      name: 'language model process',
      entry: options.entry ?? WORKER_ENTRY,
      load: {
        model,
        provider: inference.provider,
        slots,
        contextTokens,
        threads: inference.threads,
        chatTemplate: options.chatTemplate,
        lowPriority,
      },
      environment: inference.environment,
      // llama.cpp writes arbitrary messages to standard error.
      errorOutput: 'ignore',
      loadTimeoutMs: options.loadTimeoutMs ?? LOAD_TIMEOUT_MS,
      log: options.log,
      onMessage: (message) => this.#received(message),
      onLoaded: () => this.#handleLoaded(),
      onExit: () => {
        options.meter?.processCrashed();
        this.#handleCrash();
      },
    });
    this.#pause = new AudioPause(this.#process);
    this.#unsubscribe = options.audioLoad?.subscribe((level) => {
      this.#process.send({ kind: 'audio_load', level });
      this.#pause.setUrgent(level === 'urgent');
    });
  }

  /** Whether the worker accepts requests. */
  get loaded(): boolean {
    return this.#process.loaded;
  }

  /** Starts the worker and waits until it has loaded the model. Failed starts are retried until {@link close}. */
  start(): Promise<LoadedLlama> {
    return this.#process.start();
  }

  /** @param known description of the model, from a loaded worker. */
  generate(
    request: TextRequest,
    known: LoadedLlama,
    signal: AbortSignal,
  ): AsyncGenerator<TextEvent, void, undefined> {
    const work = (): Work => {
      const prompt = buildPrompt(request, known.toolCallSyntax);
      requireFits(prompt, known);
      return { request, prompt, known, convert: (tokens) => tokens(prompt) };
    };
    return this.#respond(work, signal);
  }

  /**
   * Evaluates the tokens with which all prompts with these first messages start. They stay in the cache of the worker.
   * @throws the errors of {@link generate}.
   */
  async prepare(
    { messages, tools, fairnessKey }: PromptStart,
    known: LoadedLlama,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const requestOf = (text: string): TextRequest => ({
      messages: [...messages, { role: 'user', parts: [{ kind: 'text', text }] }],
      tools,
      toolChoice: 'auto',
      parallelToolCalls: true,
      output: { kind: 'text' },
      sampling: {},
      stop: [],
      maxTokens: 1,
      priority: 'realtime',
      fairnessKey,
    });
    const [one, other] = UNKNOWN_MESSAGES;
    const request = requestOf(one);
    const prompt = buildPrompt(request, known.toolCallSyntax);
    const otherPrompt = buildPrompt(requestOf(other), known.toolCallSyntax);
    requireFits(prompt, known);
    const convert = async (tokens: Convert) => commonStart(await tokens(prompt), await tokens(otherPrompt));
    // Its token is not used, and needs no grammar.
    const text = { ...prompt, responseKind: 'text' } as const;
    for await (const _ of this.#respond(() => ({ request, prompt: text, known, convert }), signal));
  }

  /** Generates a response to the tokens of a prompt. @param work is called with the first pull, which throws its errors. */
  async *#respond(work: () => Work, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    signal.throwIfAborted();
    const { request, prompt, known, convert } = work();
    const response = this.#admit(request);
    const arrivedMs = systemClock.monotonicMs();
    this.#tokenMs = known.tokenMs;
    const abort = () => response.fail(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const rank = PRIORITY_RANKS[request.priority];
      const tokens = await convert(async (each) => {
        response.hold(await this.#conversions.acquire(request.fairnessKey, signal, rank));
        return await this.#tokenize(each, known, response);
      });
      const generate = this.#generateCommand(request, prompt, known, { id: response.id, tokens });
      response.hold(await this.#slots.acquire(request.fairnessKey, signal, rank));
      this.#options.meter?.requestStarted(request.priority, arrivedMs, systemClock.monotonicMs());
      response.unreadTokens = tokens.length;
      await this.#sendCommand(generate, response);
      for (let isFinished = false; !isFinished; ) {
        const message = await response.next();
        if (message.kind !== 'events' && message.kind !== 'finished') {
          throw new ServiceError('internal', 'The model failed on this input.', { code: 'server_error' });
        }
        yield* message.events;
        isFinished = message.kind === 'finished';
      }
    } finally {
      signal.removeEventListener('abort', abort);
      this.#responses.delete(response.id);
      // Otherwise its turn or slot is released when the worker has stopped processing.
      if (this.#work.has(response.id)) this.#process.send({ kind: 'cancel', id: response.id });
      else response.release();
    }
  }

  /** Fails all pending responses and kills the worker. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe?.();
    this.#pause.close();
    for (const response of this.#responses.values()) response.fail(shuttingDown());
    const closed = this.#process.close();
    this.#failWork(shuttingDown());
    await closed;
  }

  /** Maximum number of pending responses per priority. */
  get #maxPending(): number {
    const { settings, inference } = this.#options;
    return settings.slots + inference.queueLimit;
  }

  /**
   * @throws ServiceError `overloaded` when the priority has too many pending responses, `rate_limited` when the fairness key
   *   has too many of them.
   */
  #admit({ fairnessKey: owner, priority }: TextRequest): PendingResponse<LlamaReply> {
    if (this.#closed) throw shuttingDown();
    const open = this.#responses.values().filter((response) => response.priority === priority);
    requireClassSlot(open, owner, this.#maxPending);
    this.#lastId += 1;
    const response = new PendingResponse<LlamaReply>(this.#lastId, owner, priority);
    this.#responses.set(response.id, response);
    return response;
  }

  /**
   * Converts the conversation to tokens.
   * @throws ServiceError `invalid_request` when they fill the context.
   */
  async #tokenize(
    { conversation }: LlamaPrompt,
    { contextTokens }: LoadedLlama,
    response: PendingResponse<LlamaReply>,
  ): Promise<Uint32Array> {
    await this.#sendCommand({ kind: 'tokenize', id: response.id, conversation }, response);
    const message = await response.next();
    if (message.kind === 'tokenized') return message.prompt;
    if (message.kind === 'too_long') throw contextLengthExceeded(contextTokens, message.inputTokens);
    throw invalidRequest("The model's chat template does not support this conversation.", 'messages');
  }

  /** @throws ServiceError `invalid_request` for an unsupported schema. */
  #generateCommand(
    request: TextRequest,
    prompt: LlamaPrompt,
    { contextTokens }: LoadedLlama,
    { id, tokens }: { readonly id: number; readonly tokens: Uint32Array },
  ): GenerateCommand {
    const { settings } = this.#options;
    const left = contextTokens - tokens.length;
    const maxTokens = Math.min(request.maxTokens ?? settings.defaultMaxTokens, left);
    const { whole: grammar, json: ending } = buildGrammar(request, prompt, maxTokens);
    const { temperature, topP, seed, presencePenalty = 0, frequencyPenalty = 0 } = request.sampling;
    return {
      kind: 'generate',
      id,
      prompt: tokens,
      rank: PRIORITY_RANKS[request.priority],
      scope: request.fairnessKey,
      sampling: {
        maxTokens,
        temperature,
        topP,
        seed: seed === undefined ? undefined : ((seed % SEEDS) + SEEDS) % SEEDS,
        presencePenalty,
        frequencyPenalty,
        grammar,
        ending,
      },
      format: {
        kind: prompt.responseKind,
        syntax: prompt.syntax,
        bareCalls: prompt.bareCalls,
        toolNames: prompt.toolNames,
        stop: request.stop,
      },
    };
  }

  /** Sends a message as soon as the worker is loaded. */
  async #sendCommand(message: LlamaCommand, response: PendingResponse<LlamaReply>): Promise<void> {
    while (!this.#process.loaded) {
      if (this.#process.failing) throw overloaded('Models failed to load; the service is retrying.');
      await response.changed();
    }
    if (this.#work.size === 0) this.#aliveAtMs = systemClock.monotonicMs();
    this.#work.set(response.id, response);
    this.#updateWatchdog();
    this.#process.send(message);
  }

  /** Restarts the watchdog from the last progress. New requests do not extend the deadline. */
  #updateWatchdog(): void {
    const { settings, lowPriority, tokenTimeoutMs = TOKEN_TIMEOUT_MS } = this.#options;
    // Until the next output, each slot may sample a token, and complete prompts may be processed.
    const tokens = this.#work.values().reduce((sum, { unreadTokens }) => sum + unreadTokens, settings.slots);
    const slowdown = lowPriority ? LOW_PRIORITY_SLOWDOWN : SLOWDOWN;
    const timeoutMs = tokenTimeoutMs + slowdown * this.#tokenMs * tokens;
    this.#process.startWatchdog(Math.max(0, this.#aliveAtMs + timeoutMs - systemClock.monotonicMs()));
  }

  #received(message: LlamaReply): void {
    const response = this.#work.get(message.id);
    if (response === undefined) return;
    response.push(message);
    if (message.kind === 'events') response.unreadTokens = 0;
    else {
      this.#work.delete(message.id);
      // The turn or slot is released before a slow consumer has read the message.
      response.release();
    }
    // An idle worker sends nothing.
    if (this.#work.size === 0) this.#process.stopWatchdog();
    else {
      if (PROGRESS.has(message.kind)) this.#aliveAtMs = systemClock.monotonicMs();
      this.#updateWatchdog();
    }
  }

  #handleLoaded(): void {
    const level = this.#options.audioLoad?.level ?? 'none';
    if (level !== 'none') this.#process.send({ kind: 'audio_load', level });
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const response of this.#responses.values()) response.wake();
  }

  /** The worker crashed: fails the responses that it was processing. */
  #handleCrash(): void {
    const crashed = new ServiceError(
      'internal',
      'Inference worker crashed and is restarting; retry the request.',
      { code: 'worker_crashed' },
    );
    this.#failWork(crashed);
    this.#wakeAll();
  }

  /** Fails the responses that the worker is processing, and releases their slots. */
  #failWork(reason: ServiceError): void {
    const dropped = [...this.#work.values()];
    this.#work.clear();
    for (const response of dropped) {
      response.fail(reason);
      response.release();
    }
  }
}

/**
 * Rejects a conversation that cannot fit into the context, without sending it to the worker. Chat templates may trim the texts.
 * @throws ServiceError `invalid_request`.
 */
function requireFits({ conversation }: LlamaPrompt, { contextTokens, tokenBounds }: LoadedLlama): void {
  const texts = conversation.messages.map(({ content }) => content.trim());
  const least = minTokens(texts, tokenBounds);
  if (least >= contextTokens) throw contextLengthExceeded(contextTokens, `at least ${least}`);
}

/** The common start of two prompts; the first one if they have none. */
function commonStart(one: Uint32Array, other: Uint32Array): Uint32Array {
  const end = one.findIndex((token, index) => token !== other[index]);
  return end > 0 ? one.subarray(0, end) : one;
}

/** The wording of OpenAI's API, by which LiteLLM and LangChain recognize the error and choose a model with a longer context. */
function contextLengthExceeded(contextTokens: number, inputTokens: TokenCount): ServiceError {
  return invalidRequest(
    `This model's maximum context length is ${contextTokens} tokens, including the response. However, your messages resulted in ${inputTokens} tokens. Please reduce the length of the messages.`,
    'messages',
    'context_length_exceeded',
  );
}

function overloaded(message: string): ServiceError {
  return new ServiceError('overloaded', `${message} Retry later.`, {
    code: 'server_overloaded',
    retryAfterS: RETRY_AFTER_S,
  });
}
