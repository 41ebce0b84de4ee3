/**
 * One process of a language model, with the answers that it writes. Owners share its places in turns; answers of
 * each priority have room of their own to wait in, of which one owner gets half.
 */

import { fileURLToPath } from 'node:url';
import { invalidRequest, ServiceError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { EmbeddedTextSettings, InferenceSettings } from '../../../contract/core/settings.ts';
import type { Priority } from '../../../contract/engines/engine.ts';
import type { TextEvent, TextRequest } from '../../../contract/engines/text.ts';
import { systemClock } from '../../../kit/clock.ts';
import { FairSemaphore } from '../../../kit/limits/fair-semaphore.ts';
import { requireQueueSlot } from '../../pool/queue-quota.ts';
import { SupervisedProcess } from '../../workers/supervised-process.ts';
import { type AnswerGrammar, grammarOf, type LlamaQuestion, questionOf } from '../shared/prompt.ts';
import type { FromLlama, LlamaSampling, LoadedLlama, LoadLlama, ToLlama } from '../shared/protocol.ts';
import { LlamaAnswer } from './answer.ts';
import { OpenAnswer } from './open-answer.ts';
import type { LaneMeter } from './worker-metrics.ts';

const WORKER_ENTRY = fileURLToPath(new URL('../worker/main.ts', import.meta.url));

/** A large file on a slow disk takes minutes. */
const LOAD_LIMIT_MS = 600_000;
/** A token that costs much to choose is chosen within this. */
const CHOICE_LIMIT_MS = 20_000;
/** How often a token may take as long as it did at the load: the machine may have more to do since. */
const PATIENCE = 10;
/** The same where everybody else goes first. */
const PATIENCE_OF_NICE = 1000;
const RETRY_AFTER_S = 2;
/** Who waits behind whom. */
const RANKS: Readonly<Record<Priority, number>> = { realtime: 0, interactive: 1, batch: 2 };
const CLASSES = Object.keys(RANKS).length;
/** What the process says only when it computes: it measures and refuses even while it hangs. */
const COMPUTED: ReadonlySet<FromLlama['kind']> = new Set(['said', 'ended', 'forgotten']);
/** The library takes 32 bits, of which -1 means none. */
const SEEDS = 2 ** 31;

export interface LlamaLaneOptions {
  /** Path of the GGUF file. */
  readonly model: string;
  readonly settings: EmbeddedTextSettings;
  readonly inference: InferenceSettings;
  readonly log: Logger;
  /** Told what happens to its requests and its process. Absent: nobody. */
  readonly meter?: LaneMeter;
  /** Whether its process leaves the cores to all others. */
  readonly nice: boolean;
  /** Jinja template in the place of the file's own. */
  readonly chatTemplate?: string;
  /** Entry of the process; tests give their own. */
  readonly entry?: string;
  readonly loadTimeoutMs?: number;
  /** The process is killed when it says nothing for so long beyond the time that reading takes. */
  readonly choiceLimitMs?: number;
}

export class LlamaLane {
  readonly #options: LlamaLaneOptions;
  readonly #process: SupervisedProcess<LoadLlama, LoadedLlama, ToLlama, FromLlama>;
  readonly #turns: FairSemaphore;
  /** Every answer that is waited for, those that wait for their turn too. */
  readonly #answers = new Map<number, OpenAnswer<FromLlama>>();
  /** Every answer that the process works on, those that nobody waits for any more too: what hangs is the process. */
  readonly #work = new Map<number, OpenAnswer<FromLlama>>();
  /** Of one token, as a process of the model told. */
  #tokenMs = 0;
  /** When the process was last seen to compute, or had nothing to do. */
  #aliveAtMs = 0;
  #lastId = 0;
  #closed = false;

  constructor(options: LlamaLaneOptions) {
    this.#options = options;
    const { settings, inference, model, nice } = options;
    const { slots, contextTokens } = settings;
    // Answers share the cores, so that beside a flood of one key another's is written at a third of the pace and no less;
    // and it need not wait for the end of a long one.
    const ofOneOwner = Math.ceil(slots / 2);
    this.#turns = new FairSemaphore({ maxConcurrent: slots, maxConcurrentPerKey: ofOneOwner, maxQueued: CLASSES * this.#room });
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
        nice,
      },
      environment: inference.environment,
      // The library writes there what it likes.
      errorOutput: 'ignore',
      loadTimeoutMs: options.loadTimeoutMs ?? LOAD_LIMIT_MS,
      log: options.log,
      onMessage: (message) => this.#received(message),
      onLoaded: () => this.#wakeAll(),
      onExit: () => {
        options.meter?.processCrashed();
        this.#lost();
      },
    });
  }

  /** Can be asked. */
  get loaded(): boolean {
    return this.#process.loaded;
  }

  /** Whether an answer is open, also one that waits. */
  get busy(): boolean {
    return this.#answers.size > 0;
  }

  /** Starts the process and waits until it has loaded the model; what fails is tried again until {@link close}. */
  start(): Promise<LoadedLlama> {
    return this.#process.start();
  }

  /** @param known what a process of this model told of it. */
  async *generate(
    request: TextRequest,
    known: LoadedLlama,
    signal: AbortSignal,
  ): AsyncGenerator<TextEvent, void, undefined> {
    signal.throwIfAborted();
    const question = questionOf(request, known.callWords);
    const answer = this.#admit(request);
    const arrivedMs = systemClock.monotonicMs();
    this.#tokenMs = known.tokenMs;
    const abort = () => answer.fail(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      answer.inputTokens = await this.#measure(question, known, answer);
      const left = known.contextTokens - answer.inputTokens;
      const room = Math.min(request.maxTokens ?? left, left);
      const sampling = samplingOf(request, question, grammarOf(request, question, room), room);
      const endTurn = await this.#turns.acquire(request.fairnessKey, signal, RANKS[request.priority]);
      this.#options.meter?.begun(request.priority, arrivedMs, systemClock.monotonicMs());
      answer.over = () => {
        answer.over = () => undefined;
        endTurn();
      };
      try {
        yield* this.#answer(request, question, sampling, answer);
      } finally {
        // Its place is free when the process has let go of it.
        if (this.#work.has(answer.id)) this.#process.send({ kind: 'forget', answer: answer.id });
        else answer.over();
      }
    } finally {
      signal.removeEventListener('abort', abort);
      this.#answers.delete(answer.id);
    }
  }

  /** Fails what is open and kills the process. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const answer of this.#answers.values()) answer.fail(shuttingDown());
    const closed = this.#process.close();
    this.#dropWork(shuttingDown());
    await closed;
  }

  /** Answers of one priority that may be open. */
  get #room(): number {
    const { settings, inference } = this.#options;
    return settings.slots + inference.queueLimit;
  }

  /**
   * @throws ServiceError `overloaded` when too many answers of a priority are open, `rate_limited` when too many of
   *   them are the owner's.
   */
  #admit({ fairnessKey: owner, priority }: TextRequest): OpenAnswer<FromLlama> {
    if (this.#closed) throw shuttingDown();
    const open = this.#answers.values().filter((answer) => answer.priority === priority);
    requireQueueSlot(open, owner, this.#room);
    this.#lastId += 1;
    const answer = new OpenAnswer<FromLlama>(this.#lastId, owner, priority);
    this.#answers.set(answer.id, answer);
    return answer;
  }

  /**
   * Tokens of the conversation.
   * @throws ServiceError `invalid_request` when they leave no room for an answer.
   */
  async #measure(
    { conversation }: LlamaQuestion,
    { contextTokens }: LoadedLlama,
    answer: OpenAnswer<FromLlama>,
  ): Promise<number> {
    await this.#ask({ kind: 'measure', answer: answer.id, conversation }, answer);
    const message = await answer.next();
    if (message.kind !== 'measured') {
      throw invalidRequest("The model's chat template cannot take a conversation like this.", 'messages');
    }
    const { tokens } = message;
    if (tokens < contextTokens) return tokens;
    throw invalidRequest(
      `The conversation has ${tokens} tokens; this model takes ${contextTokens} with its answer.`,
      'messages',
      'context_length_exceeded',
    );
  }

  async *#answer(
    request: TextRequest,
    question: LlamaQuestion,
    sampling: LlamaSampling,
    answer: OpenAnswer<FromLlama>,
  ): AsyncGenerator<TextEvent, void, undefined> {
    const { conversation } = question;
    const reader = new LlamaAnswer(question, request.stop);
    answer.unread = answer.inputTokens;
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
          const input = message.inputTokens || answer.inputTokens;
          yield* reader.end(message.complete, { input, output, cached, reasoning: 0 });
          return;
        }
        default:
          throw new ServiceError('internal', 'The model failed on this input.', { code: 'server_error' });
      }
    }
  }

  /** Sends a message once the process has loaded. */
  async #ask(message: ToLlama, answer: OpenAnswer<FromLlama>): Promise<void> {
    while (!this.#process.loaded) {
      if (this.#process.failing)
        throw overloaded('The language model could not be started; it is tried again.');
      await answer.changed();
    }
    if (this.#work.size === 0) this.#aliveAtMs = systemClock.monotonicMs();
    this.#work.set(answer.id, answer);
    this.#watch();
    this.#process.send(message);
  }

  /** Counts from when the process last computed: that it is asked for more says nothing of whether it works. */
  #watch(): void {
    const { settings, nice, choiceLimitMs = CHOICE_LIMIT_MS } = this.#options;
    // Before the next is said, each place may have a token to write, and whole questions may have to be read.
    const tokens = this.#work.values().reduce((sum, { unread }) => sum + unread, settings.slots);
    const patience = nice ? PATIENCE_OF_NICE : PATIENCE;
    const limitMs = choiceLimitMs + patience * this.#tokenMs * tokens;
    this.#process.startWatchdog(Math.max(0, this.#aliveAtMs + limitMs - systemClock.monotonicMs()));
  }

  #received(message: FromLlama): void {
    const answer = this.#work.get(message.answer);
    if (answer === undefined) return;
    answer.push(message);
    if (message.kind === 'said') answer.unread = 0;
    else {
      this.#work.delete(message.answer);
      // Others need not wait until a slow listener has heard the end.
      answer.over();
    }
    // A process that has nothing to do may be silent.
    if (this.#work.size === 0) this.#process.stopWatchdog();
    else if (COMPUTED.has(message.kind)) {
      this.#aliveAtMs = systemClock.monotonicMs();
      this.#watch();
    }
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
    this.#dropWork(crashed);
    this.#wakeAll();
  }

  /** Fails what the process works on, and frees its places. */
  #dropWork(why: ServiceError): void {
    const dropped = [...this.#work.values()];
    this.#work.clear();
    for (const answer of dropped) {
      answer.fail(why);
      answer.over();
    }
  }
}

/** @param maxTokens of the answer. */
function samplingOf(
  request: TextRequest,
  { answer }: LlamaQuestion,
  { whole, json }: AnswerGrammar,
  maxTokens: number,
): LlamaSampling {
  const { temperature, topP, seed, presencePenalty = 0, frequencyPenalty = 0 } = request.sampling;
  return {
    maxTokens,
    temperature,
    topP,
    seed: seed === undefined ? undefined : ((seed % SEEDS) + SEEDS) % SEEDS,
    presencePenalty,
    frequencyPenalty,
    grammar: whole,
    ending: json,
    // In a call they are not looked for.
    stop: answer === 'text' ? request.stop : [],
  };
}

function overloaded(message: string): ServiceError {
  return new ServiceError('overloaded', `${message} Try again shortly.`, {
    code: 'server_overloaded',
    retryAfterS: RETRY_AFTER_S,
  });
}
