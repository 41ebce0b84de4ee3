/**
 * Generates responses with one context of llama.cpp, in steps. Each step evaluates a batch with tokens of all responses and
 * samples the next token of those that have read their prompt.
 */

import { completeJson } from '../../../../packages/json-schema-gbnf/src/index.ts';
import type { TextEvent } from '../../../contract/engines/text.ts';
import type { AudioLoadLevel } from '../../../inference/audio-load.ts';
import { systemClock } from '../../../kit/clock.ts';
import type { LlamaSampling, ResponseFormat } from '../shared/protocol.ts';
import type { LlamaModel } from './model.ts';
import type { NativeContext, NativeSampler } from './native.ts';
import { LlamaResponseReader } from './response-reader.ts';
import { SequenceCache } from './sequence-cache.ts';
import { PromptTurns, paddingOf, planStep, type StepSize } from './step-plan.ts';
import { ThreadBackoff } from './thread-backoff.ts';
import { TokenText } from './token-text.ts';

/** Defaults of llama.cpp. */
const TEMPERATURE = 0.8;
const TOP_P = 0.95;
const TOP_K = 40;
const MIN_P = 0.05;
const SEEDS = 2 ** 31;
/** Time of a step that only reads prompts. New requests and cancellations wait for its end. */
const LONG_STEP_MS = 100;
/** Smaller steps waste much of their time, because the weights are read from memory for each of them. */
const LONG_STEP_MIN_TOKENS = 32;
/** Time of a step that reads prompts while other responses wait for their token. */
const SHORT_STEP_MS = 50;
/** In a short step, the prompts get at least this multiple of the time in which the weights are read. */
const SHORT_STEP_WEIGHTS = 2;
/** Weight of the last step in the measured time per token. */
const SMOOTHING = 0.25;

/** A request to the generator. */
export interface Generation {
  readonly prompt: Uint32Array;
  /** Lower ranks are served first. */
  readonly rank: number;
  /** Only generations of one scope share cached prompts. */
  readonly scope: string;
  readonly sampling: LlamaSampling;
  readonly format: ResponseFormat;
  /** Receives the events of the response. The last call has `finished`. */
  onEvents(events: readonly TextEvent[], finished: boolean): void;
  /** llama.cpp failed. */
  onFailure(): void;
}

export interface GeneratorOptions {
  readonly model: LlamaModel;
  readonly context: NativeContext;
  readonly sequences: number;
  /** Context length of a sequence. */
  readonly contextTokens: number;
  /** Maximum tokens of prompts in a step. */
  readonly maxPromptTokens: number;
  readonly threads: number;
  readonly speed: StepSpeed;
}

/** Speed on an idle machine. */
export interface StepSpeed {
  /** Duration of a step with one token in ms. */
  readonly stepMs: number;
  /** Evaluation time of a prompt token in ms, as part of a longer step. */
  readonly tokenMs: number;
  /** Whether steps are padded, see {@link paddingOf}. */
  readonly padsSteps: boolean;
}

/** A response in progress. */
interface ActiveResponse {
  readonly generation: Generation;
  readonly sequence: number;
  readonly cachedTokens: number;
  readonly sampler: NativeSampler;
  readonly text: TokenText;
  readonly reader: LlamaResponseReader;
  /** Number of evaluated tokens. */
  position: number;
  /** Tokens to evaluate: the rest of the prompt, or the last sampled token. */
  pending: Uint32Array;
  /** Output so far, if a truncated response must be completed. */
  output: string;
  outputTokens: number;
}

export class LlamaGenerator {
  readonly #options: GeneratorOptions;
  readonly #cache: SequenceCache;
  /** Responses that wait for the start of a step. */
  readonly #waiting = new Map<number, Generation>();
  readonly #active = new Map<number, ActiveResponse>();
  /** Responses that were cancelled during the running step. */
  readonly #cancelled: ActiveResponse[] = [];
  readonly #threads: ThreadBackoff;
  readonly #promptTurns = new PromptTurns();
  #tokenMs: number;
  #isRunning = false;
  /** Whether the process was paused during the running step, so that its duration says nothing about the machine. */
  #wasPaused = false;
  /** The last step. */
  #step: Promise<void> = Promise.resolve();

  constructor(options: GeneratorOptions) {
    this.#options = options;
    this.#cache = new SequenceCache(options.sequences);
    this.#threads = new ThreadBackoff(options.threads);
    this.#tokenMs = options.speed.tokenMs;
  }

  /** Starts a response. @param id unique number. */
  start(id: number, generation: Generation): void {
    this.#waiting.set(id, generation);
    this.#run();
  }

  /** Cancels a response, which sends no further events. Resolves at the end of the running step; false if it has ended. */
  async cancel(id: number): Promise<boolean> {
    if (this.#waiting.delete(id)) return true;
    const response = this.#active.get(id);
    if (response === undefined) return false;
    this.#active.delete(id);
    this.#cancelled.push(response);
    await this.#step;
    return true;
  }

  /** Steps use half of the threads while audio inference runs. While it is urgent, the serving process pauses this one. */
  shareCores(level: AudioLoadLevel): void {
    if (level === 'urgent') this.#wasPaused = true;
    this.#threads.share(level !== 'none');
  }

  /** Runs steps until there are no responses. */
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    while (this.#waiting.size + this.#active.size > 0) {
      this.#step = this.#runStep();
      await this.#step;
    }
    this.#isRunning = false;
  }

  async #runStep(): Promise<void> {
    await this.#admitWaiting();
    await this.#evaluate();
    // Before the next step starts, whose responses may continue in their sequences.
    for (const response of this.#cancelled.splice(0)) this.#free(response);
  }

  /** Evaluates a batch, and samples the next tokens. */
  async #evaluate(): Promise<void> {
    const { context } = this.#options;
    const responses = [...this.#active.entries()];
    const requests = responses.map(([, { generation, pending, outputTokens }]) => ({
      rank: generation.rank,
      key: generation.scope,
      pendingTokens: pending.length,
      readsPrompt: outputTokens === 0,
    }));
    const nowMs = systemClock.monotonicMs();
    const threads = this.#threads.threads(nowMs);
    const size = this.#stepSize(threads);
    const counts = planStep(requests, size, this.#promptTurns.promptsYield);
    const tokens = counts.reduce((sum, count) => sum + count, 0);
    if (tokens === 0) return;
    this.#wasPaused = false;
    const startMs = systemClock.monotonicMs();
    const outputs = new Map<number, number>();
    const padded = responses.find(([, { pending }], index) => counts[index] === pending.length)?.[1];
    const padding = padded === undefined ? 0 : this.#padding(padded, tokens);
    try {
      context.setThreads(threads);
      context.initBatch(tokens + padding);
      for (const [index, [id, response]] of responses.entries()) {
        const output = this.#addToBatch(response, counts[index] ?? 0, response === padded ? padding : 0);
        if (output !== undefined) outputs.set(id, output);
      }
      await context.decodeBatch();
      if (padded !== undefined && padding > 0)
        context.removeTokenCellsFromSequence(padded.sequence, padded.position, -1);
    } catch {
      // The state of the sequences is unknown.
      for (const [id, response] of responses) {
        this.#empty(response.sequence);
        this.#fail(id, response);
      }
      return;
    }
    const expectedMs = this.#options.speed.stepMs * responses.length + this.#tokenMs * (tokens + padding);
    // Not the measured time, which contains pauses and the time in which this thread converts prompts.
    this.#promptTurns.record(requests, counts, expectedMs);
    if (!this.#wasPaused) this.#recordStep(startMs, threads, tokens + padding, expectedMs);
    await Promise.all([...outputs].map(([id, output]) => this.#sample(id, output)));
  }

  #stepSize(threads: number): StepSize {
    const { maxPromptTokens, speed } = this.#options;
    const tokenMs = this.#tokenMs * (this.#options.threads / threads);
    const tokens = (ms: number, min: number) =>
      Math.min(maxPromptTokens, Math.ceil(Math.max(min, ms / tokenMs)));
    return {
      short: tokens(SHORT_STEP_MS, (SHORT_STEP_WEIGHTS * speed.stepMs) / this.#tokenMs),
      long: tokens(LONG_STEP_MS, LONG_STEP_MIN_TOKENS),
    };
  }

  #recordStep(startMs: number, threads: number, tokens: number, expectedMs: number): void {
    const endMs = systemClock.monotonicMs();
    const wasFast = this.#threads.record({ startMs, endMs, threads }, expectedMs);
    if (!wasFast || tokens < LONG_STEP_MIN_TOKENS) return;
    this.#tokenMs += SMOOTHING * ((endMs - startMs) / tokens - this.#tokenMs);
  }

  /** Assigns sequences to the waiting responses. */
  async #admitWaiting(): Promise<void> {
    const { context, model } = this.#options;
    for (const [id, generation] of this.#waiting) {
      const { prompt, scope, format } = generation;
      const assigned = this.#cache.acquire(scope, prompt);
      // The others wait until a cancelled response has freed its sequence.
      if (assigned === undefined) return;
      const { sequence, copyFrom } = assigned;
      let cachedTokens = assigned.cachedTokens;
      try {
        if (copyFrom !== undefined) {
          context.disposeSequence(sequence);
          await context.copySequenceStateFromOtherSequence(sequence, copyFrom);
        }
        // Cancelled while the sequence was copied.
        if (!this.#waiting.has(id)) {
          this.#cache.release(sequence);
          continue;
        }
        if (!context.removeTokenCellsFromSequence(sequence, cachedTokens, -1)) {
          // Recurrent models cannot return to an earlier state.
          this.#empty(sequence);
          cachedTokens = 0;
        }
        this.#active.set(id, {
          generation,
          sequence,
          cachedTokens,
          sampler: this.#sampler(generation.sampling),
          text: new TokenText((tokens) => model.detokenize(tokens)),
          reader: new LlamaResponseReader(format),
          position: cachedTokens,
          pending: prompt.subarray(cachedTokens),
          output: '',
          outputTokens: 0,
        });
        this.#waiting.delete(id);
      } catch {
        this.#waiting.delete(id);
        this.#empty(sequence);
        this.#cache.release(sequence);
        generation.onFailure();
      }
    }
  }

  /** Number of tokens to add to a step after the last token of a response. */
  #padding({ position, pending }: ActiveResponse, stepTokens: number): number {
    const { speed, maxPromptTokens, contextTokens } = this.#options;
    const padding = speed.padsSteps ? paddingOf(stepTokens) : 0;
    const hasRoom =
      stepTokens + padding <= maxPromptTokens && position + pending.length + padding <= contextTokens;
    return hasRoom ? padding : 0;
  }

  /**
   * @param padding number of tokens to evaluate after the last pending one, on which they have no influence.
   * @returns index of the output after the last pending token.
   */
  #addToBatch(response: ActiveResponse, count: number, padding: number): number | undefined {
    if (count === 0) return undefined;
    const { context } = this.#options;
    const { sequence, position, pending } = response;
    const tokens = pending.slice(0, count);
    const wanted = count === pending.length ? Uint32Array.of(count - 1) : new Uint32Array();
    const evaluated = new Uint32Array(count + padding);
    evaluated.set(tokens);
    const [output] = context.addToBatch(sequence, position, evaluated, wanted);
    this.#cache.append(sequence, tokens);
    response.position += count;
    response.pending = pending.subarray(count);
    return output;
  }

  async #sample(id: number, output: number): Promise<void> {
    const response = this.#active.get(id);
    // The response was cancelled during the step.
    if (response === undefined) return;
    try {
      const token = await this.#options.context.sampleToken(output, response.sampler);
      if (!this.#active.has(id)) return;
      if (token < 0) throw new Error('No token is possible.');
      this.#accept(id, response, token);
    } catch {
      this.#fail(id, response);
    }
  }

  #accept(id: number, response: ActiveResponse, token: number): void {
    const { generation, reader } = response;
    const { sampling } = generation;
    response.outputTokens += 1;
    if (this.#options.model.native.isEogToken(token)) {
      this.#finish(id, response, [], true);
      return;
    }
    const piece = response.text.push(token);
    if (sampling.ending !== undefined) response.output += piece;
    const events = piece === '' ? [] : reader.push(piece);
    if (reader.stopped) this.#finish(id, response, events, true);
    else if (response.outputTokens >= sampling.maxTokens) this.#finish(id, response, events, false);
    else {
      response.pending = Uint32Array.of(token);
      if (events.length > 0) generation.onEvents(events, false);
    }
  }

  /** @param complete whether the model ended the response before its token limit. */
  #finish(id: number, response: ActiveResponse, events: readonly TextEvent[], complete: boolean): void {
    const { generation, reader, text, outputTokens: output, cachedTokens: cached } = response;
    const { ending } = generation.sampling;
    this.#active.delete(id);
    this.#free(response);
    let rest = reader.stopped ? '' : text.end();
    // A character that the token limit has split cannot be completed.
    if (!complete) rest = ending === undefined ? '' : (completeJson(ending, response.output) ?? '');
    const usage = { input: generation.prompt.length, output, cached, reasoning: 0 };
    const last = rest === '' ? [] : reader.push(rest);
    generation.onEvents([...events, ...last, ...reader.end(complete, usage)], true);
  }

  #fail(id: number, response: ActiveResponse): void {
    // A cancelled response is freed at the end of the step.
    if (!this.#active.delete(id)) return;
    this.#free(response);
    response.generation.onFailure();
  }

  #free({ sampler, sequence }: ActiveResponse): void {
    sampler.dispose();
    this.#cache.release(sequence);
  }

  #empty(sequence: number): void {
    this.#options.context.disposeSequence(sequence);
    this.#cache.clear(sequence);
  }

  #sampler(sampling: LlamaSampling): NativeSampler {
    const { temperature = TEMPERATURE, topP = TOP_P, presencePenalty, frequencyPenalty, grammar } = sampling;
    const { model } = this.#options;
    const sampler = new model.binding.AddonSampler(model.native);
    sampler.applyConfig({
      temperature,
      topK: TOP_K,
      topP,
      minP: MIN_P,
      seed: sampling.seed ?? Math.floor(Math.random() * SEEDS),
      ...((presencePenalty !== 0 || frequencyPenalty !== 0) && {
        repeatPenaltyTokens: new Uint32Array(),
        repeatPenaltyMaxTokens: sampling.maxTokens,
        repeatPenaltyPresencePenalty: presencePenalty,
        repeatPenaltyFrequencyPenalty: frequencyPenalty,
      }),
      ...(grammar !== undefined && { grammarEvaluationState: model.grammarState(grammar) }),
    });
    return sampler;
  }
}
