/** One turn of a speaker: its audio and its billed transcription (spec 4.7, rule 9; spec 1, logged rows). */

import type { Caller } from '../contract/accounts/caller.ts';
import type { EndpointLabel } from '../contract/accounts/usage.ts';
import type { Id } from '../contract/core/id.ts';
import type { Traceparent } from '../contract/core/tracer.ts';
import type {
  TextToken,
  TranscriptDelta,
  TranscriptionEvent,
  TranscriptionRequest,
  TranscriptionTask,
  TranscriptPreview,
} from '../contract/engines/engine.ts';
import { requireModel } from '../contract/model-table.ts';
import type { Slots } from '../contract/plugin.ts';
import { logFailure } from '../kit/logging/log-failure.ts';
import { withSpan } from '../kit/logging/spans.ts';
import { billed } from '../usage/billed.ts';
import { TRANSCRIPTION_ENDPOINTS, TranscriptionUsageMeter } from '../usage/usage-meters.ts';
import { type TurnAudio, TurnDroppedError } from './turn-audio.ts';
import { TurnCall, type TurnEnd } from './turn-call.ts';

/** Transcription settings, as configured when the turn started. */
export interface TranscriptionParams {
  readonly model: string;
  readonly task: TranscriptionTask;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  /** As in a request to the engine. */
  readonly languages?: readonly string[] | undefined;
  readonly keywords?: readonly string[] | undefined;
  readonly textTokens?: boolean;
  /** Endpoint label of the usage row. Default: derived from the task. */
  readonly endpoint?: EndpointLabel;
  /** `no_row`: a turn with an empty transcript leaves no usage row. Default: it has a row. */
  readonly silence?: 'no_row';
}

/** Token usage of a transcription. */
export interface TranscriptTokens {
  readonly audio: number;
  readonly text: number;
  readonly output: number;
}

/** Final event of a turn. */
export type TurnTranscriptionResult =
  | {
      readonly kind: 'completed';
      readonly itemId: Id<'item_'>;
      readonly transcript: string;
      readonly tokens: TranscriptTokens;
      /** Tokens of the transcript, if they were requested and the engine reports them. */
      readonly textTokens?: readonly TextToken[] | undefined;
    }
  /** `error` may contain private text. */
  | { readonly kind: 'failed'; readonly itemId: Id<'item_'>; readonly error: unknown };

/** Events of a turn: text deltas, followed by the result. */
export type TurnTranscriptionEvent =
  | ({ readonly kind: 'delta'; readonly itemId: Id<'item_'> } & TranscriptDelta)
  | TurnTranscriptionResult;

export interface TurnDeps extends Pick<Slots, 'stt' | 'calls' | 'log' | 'tracer'> {
  readonly caller: Caller;
  /** Never called synchronously by the methods of a turn. */
  readonly report: (event: TurnTranscriptionEvent) => void;
  /**
   * Called during a pause of a turn with the transcript that the turn has if it ends there, unless the engine only
   * transcribes complete audio; and at the end of a turn that is not confirmed yet, with its transcript, undefined if the
   * transcription failed.
   */
  readonly onPreview?: (itemId: Id<'item_'>, preview: TranscriptPreview | undefined) => void;
}

export interface TurnOptions {
  readonly itemId: Id<'item_'>;
  readonly audio: TurnAudio;
  readonly params: TranscriptionParams;
  /** Trace context that the trace of the turn is linked to. */
  readonly cause: Traceparent | undefined;
  /** Called once, before the result is reported, or when the turn has ended without one. */
  readonly onEnded: () => void;
}

/**
 * One turn, as one call. It may be transcribed before it is confirmed: then nothing is reported before its call is open. Its
 * usage row is stored before the final event. A stopped turn reports nothing more.
 */
export class Turn {
  readonly itemId: Id<'item_'>;
  readonly audio: TurnAudio;
  readonly #deps: TurnDeps;
  readonly #options: TurnOptions;
  readonly #meter: TranscriptionUsageMeter;
  readonly #call: TurnCall;
  readonly #stopped = new AbortController();
  #work: Promise<void> | undefined;
  #isOver = false;

  constructor(deps: TurnDeps, options: TurnOptions) {
    this.itemId = options.itemId;
    this.audio = options.audio;
    this.#deps = deps;
    this.#options = options;
    const { prompt, silence } = options.params;
    const recordsSilence = silence !== 'no_row';
    this.#meter = new TranscriptionUsageMeter({ audio: options.audio, prompt, recordsSilence });
    this.#call = new TurnCall({ calls: deps.calls, opening: (maxS) => this.#opening(maxS) });
  }

  /** Whether the turn was stopped or abandoned. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves when the engine is released and the usage row is stored; immediately if nothing runs. */
  get ended(): Promise<void> {
    return this.#work ?? Promise.resolve();
  }

  /** Starts the transcription. Before {@link confirm} it reports nothing and has no usage row. Idempotent. */
  start(): void {
    if (this.#work !== undefined) return;
    const { tracer, caller } = this.#deps;
    const { cause, params } = this.#options;
    const attributes = { request_id: caller.requestId, model: params.model };
    this.#work = withSpan(tracer, 'turn', { parent: 'none', cause, attributes }, () => this.#run());
  }

  /**
   * Confirms the turn, before or after its start. Resolves to false if its call was rejected; the turn has then
   * failed.
   * @param maxS maximum audio length in seconds: exact for a committed turn, an upper bound while the turn
   *   may grow.
   */
  async confirm(maxS = this.audio.lengthS): Promise<boolean> {
    await this.#call.confirm(maxS);
    return !this.#call.rejected.aborted;
  }

  /** Stops the turn: the engine is released within one window, and the usage row of a confirmed turn is written. */
  stop(): void {
    if (this.#work === undefined) {
      this.abandon();
      return;
    }
    this.#isOver = true;
    this.#stopped.abort();
  }

  /** The transcription will never start. Writes the usage row of a confirmed turn, which consumed nothing. */
  abandon(): void {
    if (this.#work !== undefined) return;
    this.#isOver = true;
    this.audio.discard();
    this.#work = this.#abandon();
  }

  async #abandon(): Promise<void> {
    if (this.#call.isConfirmed) await this.#call.abandon();
    this.#options.onEnded();
  }

  #opening(maxS: number) {
    const { model, task, endpoint = TRANSCRIPTION_ENDPOINTS[task] } = this.#options.params;
    return { endpoint, model, caller: this.#deps.caller, maxUsage: this.#meter.maxUsage(maxS) };
  }

  async #run(): Promise<void> {
    const { onPreview, report } = this.#deps;
    const { itemId, audio } = this;
    const call = this.#call;
    const { signal: stopped } = this.#stopped;
    call.start({
      stopped,
      onText: (delta) => {
        if (!stopped.aborted) report({ kind: 'delta', itemId, ...delta });
      },
      onEnd: (end) => {
        const hasEnded = !call.isConfirmed && !stopped.aborted && !audio.isDropped;
        // A failed engine may have read only a part of the audio.
        audio.discard();
        if (hasEnded) onPreview?.(itemId, previewOf(end));
      },
    });
    const result = await this.#result(AbortSignal.any([stopped, call.rejected]));
    this.#options.onEnded();
    if (result !== undefined && call.isConfirmed && !stopped.aborted) report(result);
  }

  /** Transcribes and reports the text. Returns the result, or undefined if the turn was stopped. */
  async #result(signal: AbortSignal): Promise<TurnTranscriptionResult | undefined> {
    const { itemId, audio } = this;
    const call = this.#call;
    const plan = { ...this.#opening(audio.lengthS), calls: call, rejections: 'recorded' } as const;
    let result: TurnTranscriptionResult | undefined;
    try {
      for await (const event of billed(plan, this.#meter, () => this.#transcribe(signal), signal)) {
        if (event.kind === 'delta') call.pushText(event);
        else {
          const {
            text: transcript,
            inputTokens,
            outputTokens: output,
            tokens: textTokens,
          } = event.transcript;
          const tokens = { ...inputTokens, output };
          result = { kind: 'completed', itemId, transcript, tokens, textTokens };
        }
      }
    } catch (error) {
      // A dropped turn needs no result, even if its stop arrives later.
      if (this.#stopped.signal.aborted || error instanceof TurnDroppedError) return undefined;
      const { log, caller } = this.#deps;
      logFailure(log, 'transcription failed', error, { request_id: caller.requestId });
      result = { kind: 'failed', itemId, error };
    } finally {
      audio.discard();
    }
    return call.rejected.aborted ? { kind: 'failed', itemId, error: call.rejected.reason } : result;
  }

  /** Starts the engine. */
  #transcribe(signal: AbortSignal): AsyncIterable<TranscriptionEvent> {
    const { stt, caller, onPreview } = this.#deps;
    const { model, task, language, languages, prompt, keywords, textTokens } = this.#options.params;
    const request: TranscriptionRequest = {
      task,
      language,
      languages,
      prompt,
      keywords,
      textTokens,
      timestamps: 'none',
      priority: 'realtime',
      fairnessKey: caller.keyId,
      onPreview:
        onPreview &&
        ((preview: TranscriptPreview) => {
          if (!signal.aborted) onPreview(this.itemId, preview);
        }),
    };
    return requireModel(stt, model).transcribe(this.audio, request, signal);
  }
}

/** @param end undefined for a transcription without text and without a usage row. */
function previewOf(end: TurnEnd | undefined): TranscriptPreview | undefined {
  if (end !== undefined && end.status !== 'completed') return undefined;
  return { text: end?.transcript ?? '', sentenceEnd: 1 };
}
