/**
 * A language model on llama.cpp. The serving side: requests become messages and a grammar here, and their
 * answers events; the model runs in a process of its own, which may die without harm. The answers of all owners
 * share the places of the process in turns.
 */

import { fileURLToPath } from 'node:url';
import type { Priority, ReadyReport } from '../../contract/engine.ts';
import { invalidRequest, ServiceError, shuttingDown } from '../../contract/error.ts';
import type { Logger } from '../../contract/logger.ts';
import type { EmbeddedTextSettings, InferenceSettings } from '../../contract/settings.ts';
import type { TextEngine, TextEvent, TextRequest } from '../../contract/text.ts';
import { Turns } from '../../kit/turns.ts';
import { SupervisedProcess } from '../supervised-process.ts';
import type { CallWords } from './call-words.ts';
import { LlamaAnswer } from './llama-answer.ts';
import { llamaFile } from './llama-file.ts';
import type { FromLlama, LlamaSampling, LoadedLlama, LoadLlama, ToLlama } from './llama-protocol.ts';
import { type LlamaQuestion, questionOf } from './llama-question.ts';
import { OpenAnswer } from './open-answer.ts';

const WORKER_ENTRY = fileURLToPath(new URL('./llama-worker.ts', import.meta.url));

/** A large file on a slow disk takes minutes. */
const LOAD_LIMIT_MS = 600_000;
/** Far beyond the time of a token, and what reading a token of a long conversation adds to it while nothing is said. */
const SILENCE_LIMIT_MS = 60_000;
const READING_LIMIT_MS = 100;
const RETRY_AFTER_S = 2;
/** Who waits behind whom. */
const RANKS: Readonly<Record<Priority, number>> = { realtime: 0, interactive: 1, batch: 2 };
/** The library takes 32 bits, of which -1 means none. */
const SEEDS = 2 ** 31;

export interface LlamaOptions {
  readonly settings: EmbeddedTextSettings;
  readonly inference: InferenceSettings;
  readonly modelsDir: string;
  readonly log: Logger;
  /** Jinja template in the place of the file's own. */
  readonly chatTemplate?: string;
  /** Entry of the process; tests give their own. */
  readonly entry?: string;
  readonly loadLimitMs?: number;
  /** The process is killed when it works and says nothing for so long. */
  readonly silenceLimitMs?: number;
}

/**
 * Opens the engine and waits until its process has loaded the model.
 * @throws Error that says what is missing: the file, a library of the provider.
 */
export async function openLlama(options: LlamaOptions): Promise<TextEngine> {
  const file = llamaFile(options.settings.weights, options.modelsDir);
  const engine = new LlamaEngine(file, options);
  try {
    await engine.start();
    return engine;
  } catch (error) {
    await engine.close();
    const why = error instanceof Error ? error.message : String(error);
    // The library does not say more of a file that it cannot read.
    const hint = why.includes('ended before') ? ' The file may be damaged, or need a newer llama.cpp.' : '';
    throw new Error(`The language model ${file} cannot be loaded: ${why}${hint}`, { cause: error });
  }
}

class LlamaEngine implements TextEngine {
  readonly #options: LlamaOptions;
  readonly #process: SupervisedProcess<LoadLlama, LoadedLlama, ToLlama, FromLlama>;
  readonly #turns: Turns;
  /** Every answer that has not ended, waiting ones too. */
  readonly #answers = new Map<number, OpenAnswer<FromLlama>>();
  #contextTokens: number;
  #callWords: CallWords | undefined;
  #lastId = 0;
  #closed = false;

  constructor(model: string, options: LlamaOptions) {
    this.#options = options;
    const { settings, inference } = options;
    const { slots, contextTokens } = settings;
    this.#contextTokens = contextTokens;
    // One place is left for the others, so that they need not wait for the end of a long answer.
    const ofOneOwner = Math.max(1, slots - 1);
    this.#turns = new Turns({ atOnce: slots, ofOneOwner, waiting: inference.queueLimit });
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
      },
      environment: inference.environment,
      // The library writes there what it likes.
      errorOutput: 'ignore',
      loadLimitMs: options.loadLimitMs ?? LOAD_LIMIT_MS,
      log: options.log,
      received: (message) => this.#received(message),
      loaded: () => this.#wakeAll(),
      lost: () => this.#lost(),
    });
  }

  get contextTokens(): number {
    return this.#contextTokens;
  }

  async start(): Promise<void> {
    const { contextTokens, callWords } = await this.#process.start();
    this.#contextTokens = contextTokens;
    this.#callWords = callWords;
  }

  async *generate(request: TextRequest, signal: AbortSignal): AsyncGenerator<TextEvent, void, undefined> {
    signal.throwIfAborted();
    const question = questionOf(request, this.#callWords);
    const answer = this.#admit();
    const abort = () => answer.fail(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const inputTokens = await this.#measure(question, answer);
      const endTurn = await this.#turns.take(request.owner, signal, RANKS[request.priority]);
      answer.over = () => {
        answer.over = () => undefined;
        endTurn();
      };
      try {
        yield* this.#answer(request, question, inputTokens, answer);
      } finally {
        if (answer.running) this.#process.send({ kind: 'forget', answer: answer.id });
        answer.over();
      }
    } finally {
      signal.removeEventListener('abort', abort);
      this.#answers.delete(answer.id);
      // A process that has nothing to do may be silent.
      if (!this.#busy()) this.#process.answered();
    }
  }

  ready(): ReadyReport {
    const ready = this.#process.loaded;
    return {
      ready,
      detail: ready ? `llama, ${this.#options.inference.provider}` : 'its process is being started',
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const answer of this.#answers.values()) answer.fail(shuttingDown());
    await this.#process.close();
  }

  /** @throws ServiceError `overloaded` when too many answers are open. */
  #admit(): OpenAnswer<FromLlama> {
    if (this.#closed) throw shuttingDown();
    const { settings, inference } = this.#options;
    if (this.#answers.size >= settings.slots + inference.queueLimit) {
      throw overloaded('The language model has too much to do.');
    }
    this.#lastId += 1;
    const answer = new OpenAnswer<FromLlama>(this.#lastId);
    this.#answers.set(answer.id, answer);
    return answer;
  }

  /**
   * Tokens of the conversation.
   * @throws ServiceError `invalid_request` when they leave no room for an answer.
   */
  async #measure({ conversation }: LlamaQuestion, answer: OpenAnswer<FromLlama>): Promise<number> {
    await this.#ask({ kind: 'measure', answer: answer.id, conversation }, answer);
    const message = await answer.next();
    if (message.kind !== 'measured') {
      throw invalidRequest("The model's chat template cannot take a conversation like this.", 'messages');
    }
    const { tokens } = message;
    if (tokens < this.#contextTokens) return tokens;
    throw invalidRequest(
      `The conversation has ${tokens} tokens; this model takes ${this.#contextTokens} with its answer.`,
      'messages',
      'context_length_exceeded',
    );
  }

  async *#answer(
    request: TextRequest,
    question: LlamaQuestion,
    inputTokens: number,
    answer: OpenAnswer<FromLlama>,
  ): AsyncGenerator<TextEvent, void, undefined> {
    const { conversation } = question;
    const reader = new LlamaAnswer(question, request.stop);
    const sampling = this.#sampling(request, question, this.#contextTokens - inputTokens);
    await this.#ask({ kind: 'begin', answer: answer.id, conversation, sampling }, answer);
    let enough = false;
    for (;;) {
      const message = await answer.next();
      switch (message.kind) {
        case 'said':
          yield* reader.push(message.text);
          // Where the process does not know the stop texts itself.
          if (reader.stopped && !enough && question.answer === 'either') {
            enough = true;
            this.#process.send({ kind: 'enough', answer: answer.id });
          }
          break;
        case 'ended': {
          const { cachedTokens: cached, outputTokens: output } = message;
          const input = message.inputTokens || inputTokens;
          yield* reader.end(message.complete, { input, output, cached, reasoning: 0 });
          return;
        }
        default:
          throw new ServiceError('internal', 'The model failed on this input.', { code: 'server_error' });
      }
    }
  }

  #sampling(request: TextRequest, { grammar, answer }: LlamaQuestion, room: number): LlamaSampling {
    const { temperature, topP, seed, presencePenalty = 0, frequencyPenalty = 0 } = request.sampling;
    return {
      maxTokens: Math.min(request.maxTokens ?? room, room),
      temperature,
      topP,
      seed: seed === undefined ? undefined : ((seed % SEEDS) + SEEDS) % SEEDS,
      presencePenalty,
      frequencyPenalty,
      grammar,
      // In a call they are not looked for.
      stop: answer === 'text' ? request.stop : [],
    };
  }

  /** Sends a message once the process has loaded. */
  async #ask(message: ToLlama, answer: OpenAnswer<FromLlama>): Promise<void> {
    while (!this.#process.loaded) {
      if (this.#process.failing)
        throw overloaded('The language model could not be started; it is tried again.');
      await answer.changed();
    }
    if (!this.#busy()) this.#watch();
    answer.running = true;
    this.#process.send(message);
  }

  #watch(): void {
    const { slots } = this.#options.settings;
    const limitMs = SILENCE_LIMIT_MS + READING_LIMIT_MS * this.#contextTokens * slots;
    this.#process.watch(this.#options.silenceLimitMs ?? limitMs);
  }

  #received(message: FromLlama): void {
    const answer = this.#answers.get(message.answer);
    answer?.push(message);
    if (answer && message.kind !== 'said') {
      answer.running = false;
      // Others need not wait until a slow listener has heard the end.
      answer.over();
    }
    if (!this.#busy()) this.#process.answered();
    // That it measures says nothing of whether it writes.
    else if (message.kind === 'said' || message.kind === 'ended') this.#watch();
  }

  /** Whether the process works on an answer. */
  #busy(): boolean {
    return this.#answers.values().some(({ running }) => running);
  }

  #wakeAll(): void {
    for (const answer of this.#answers.values()) answer.wake();
  }

  /** The process has ended, and with it every answer that it was writing. */
  #lost(): void {
    const crashed = new ServiceError(
      'internal',
      'The process that worked on this request died; a new one is being started. Send the request again.',
      { code: 'worker_crashed' },
    );
    for (const answer of this.#answers.values()) {
      if (answer.running) answer.fail(crashed);
      else answer.wake();
      answer.running = false;
    }
  }
}

function overloaded(message: string): ServiceError {
  return new ServiceError('overloaded', `${message} Try again shortly.`, {
    code: 'server_overloaded',
    retryAfterS: RETRY_AFTER_S,
  });
}
