/** Runs a billed transcription for each turn (spec 4.7, rule 9; spec 1, logged rows). */

import type { Caller } from '../contract/accounts/caller.ts';
import type { NewCall } from '../contract/accounts/calls.ts';
import type { EndpointLabel } from '../contract/accounts/usage.ts';
import type { Id } from '../contract/core/id.ts';
import type { Traceparent } from '../contract/core/tracer.ts';
import type {
  AudioChunk,
  TextToken,
  TranscriptDelta,
  TranscriptionEvent,
  TranscriptionTask,
  TranscriptPreview,
} from '../contract/engines/engine.ts';
import { requireModel } from '../contract/model-table.ts';
import type { Slots } from '../contract/plugin.ts';
import { TaskGroup } from '../kit/async/task-group.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import { logFailure } from '../kit/logging/log-failure.ts';
import { withSpan } from '../kit/logging/spans.ts';
import { billed } from '../usage/billed.ts';
import { TRANSCRIPTION_ENDPOINTS, TranscriptionUsageMeter } from '../usage/usage-meters.ts';
import { TurnDroppedError } from './turn-audio.ts';
import { TurnCall, type TurnEnd } from './turn-call.ts';
import type { Turn } from './turn-segmenter.ts';

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
      readonly itemId: Id<'item'>;
      readonly transcript: string;
      readonly tokens: TranscriptTokens;
      /** Tokens of the transcript, if they were requested and the engine reports them. */
      readonly textTokens?: readonly TextToken[] | undefined;
    }
  /** `error` may contain private text. */
  | { readonly kind: 'failed'; readonly itemId: Id<'item'>; readonly error: unknown };

/** Events of a turn: text deltas, followed by the result. */
export type TurnTranscriptionEvent =
  | ({ readonly kind: 'delta'; readonly itemId: Id<'item'> } & TranscriptDelta)
  | TurnTranscriptionResult;

export interface TurnTranscriptionsDeps extends Pick<Slots, 'stt' | 'calls' | 'log' | 'tracer'> {
  readonly caller: Caller;
  /** Never called synchronously by the methods of this class. */
  readonly report: (event: TurnTranscriptionEvent) => void;
  /**
   * Called during a pause of a turn with the transcript that the turn has if it ends there, unless the engine only
   * transcribes complete audio; and at the end of a turn that is not confirmed yet, with its transcript, undefined if the
   * transcription failed.
   */
  readonly onPreview?: (itemId: Id<'item'>, preview: TranscriptPreview | undefined) => void;
}

/** The call of a turn, and what it measures. */
interface BilledTurn {
  readonly call: TurnCall;
  readonly meter: TranscriptionUsageMeter;
  readonly opening: (maxS: number) => NewCall;
}

/**
 * Runs the transcription engine for turns. A confirmed turn is one call: nothing is reported before the call
 * is open, and its usage row is committed before the final event. A stopped turn reports nothing more.
 */
export class TurnTranscriptions {
  readonly #deps: TurnTranscriptionsDeps;
  readonly #tasks = new TaskGroup<Id<'item'> | symbol>();
  /** Calls of turns that are confirmed or started, and not finished. */
  readonly #calls = new Map<Id<'item'>, BilledTurn>();
  /** Trace context of the request that opened the connection. */
  readonly #cause: Traceparent | undefined;

  /** Must be called while that request is handled, so that the traces of turns are linked to it. */
  constructor(deps: TurnTranscriptionsDeps) {
    this.#deps = deps;
    this.#cause = deps.tracer.currentTraceparent();
  }

  /** Starts the transcription of a turn. Before {@link confirm} it reports nothing and has no usage row. */
  start(turn: Turn, params: TranscriptionParams): void {
    const billedTurn = this.#callOf(turn, params);
    const { tracer, caller } = this.#deps;
    const attributes = { request_id: caller.requestId, model: params.model };
    this.#tasks.start(turn.itemId, (signal) =>
      withSpan(tracer, 'turn', { parent: 'none', cause: this.#cause, attributes }, () =>
        this.#run(turn, params, billedTurn, signal),
      ),
    );
  }

  /**
   * Confirms a turn, before or after its start. Resolves to false if its call was rejected; the turn has then
   * failed.
   * @param maxS maximum audio length in seconds: exact for a committed turn, an upper bound while the turn
   *   may grow.
   */
  async confirm(turn: Turn, params: TranscriptionParams, maxS = turn.audio.lengthS): Promise<boolean> {
    const { call } = this.#callOf(turn, params);
    await call.confirm(maxS);
    return !call.rejected.aborted;
  }

  /**
   * Stops a turn: the engine is released within one window, and the usage row of a confirmed turn is written.
   */
  stop(itemId: Id<'item'>): void {
    this.#tasks.stop(itemId);
  }

  /** Writes the usage row of a confirmed turn that will never start. It consumed nothing. */
  abandon(itemId: Id<'item'>): void {
    const call = this.#calls.get(itemId)?.call;
    this.#calls.delete(itemId);
    if (call !== undefined) this.#tasks.start(Symbol(), () => call.abandon());
  }

  /** Stops all transcriptions. Resolves when every engine is released and every usage row is stored. */
  close(): Promise<void> {
    return this.#tasks.close();
  }

  #callOf({ itemId }: Turn, params: TranscriptionParams): BilledTurn {
    const known = this.#calls.get(itemId);
    if (known !== undefined) return known;
    const { calls, caller } = this.#deps;
    const { model, task, prompt, silence, endpoint = TRANSCRIPTION_ENDPOINTS[task] } = params;
    const meter = new TranscriptionUsageMeter({ prompt, recordsSilence: silence !== 'no_row' });
    const opening = (maxS: number) => ({ endpoint, model, caller, maxUsage: meter.maxUsage(maxS) });
    const billedTurn = { call: new TurnCall({ calls, opening }), meter, opening };
    this.#calls.set(itemId, billedTurn);
    return billedTurn;
  }

  async #run(
    turn: Turn,
    params: TranscriptionParams,
    { call, meter, opening }: BilledTurn,
    stopped: AbortSignal,
  ): Promise<void> {
    const { itemId, audio } = turn;
    const { onPreview, report } = this.#deps;
    call.start({
      stopped,
      onText: (delta) => {
        if (!stopped.aborted) report({ kind: 'delta', itemId, ...delta });
      },
      onEnd: (end) => {
        const isEnded = !call.isConfirmed && !stopped.aborted && !audio.isDropped;
        // A failed engine may have read only a part of the audio.
        audio.discard();
        if (isEnded) onPreview?.(itemId, previewOf(end));
      },
    });
    const signal = AbortSignal.any([stopped, call.rejected]);
    const plan = { ...opening(audio.lengthS), calls: call, rejections: 'recorded' } as const;
    const events = billed(plan, meter, () => this.#transcribe(turn, params, meter, signal), signal);
    const result = await this.#resultOf(turn, events, call, stopped);
    this.#calls.delete(itemId);
    if (result !== undefined && call.isConfirmed && !stopped.aborted) report(result);
  }

  /** Starts the engine. */
  #transcribe(
    { itemId, audio }: Turn,
    params: TranscriptionParams,
    meter: TranscriptionUsageMeter,
    signal: AbortSignal,
  ): AsyncIterable<TranscriptionEvent> {
    const { stt, caller, onPreview } = this.#deps;
    const { model, task, language, languages, prompt, keywords, textTokens } = params;
    const request = {
      ...({ task, language, languages, prompt, keywords, textTokens } as const),
      ...({ timestamps: 'none', priority: 'realtime' } as const),
      fairnessKey: caller.keyId,
      onPreview:
        onPreview &&
        ((preview: TranscriptPreview) => {
          if (!signal.aborted) onPreview(itemId, preview);
        }),
    };
    return requireModel(stt, model).transcribe(countedAudio(audio, meter, signal), request, signal);
  }

  /** Reports the text. Returns the result, or undefined if the turn was stopped. */
  async #resultOf(
    { itemId, audio }: Turn,
    events: AsyncIterable<TranscriptionEvent>,
    call: TurnCall,
    stopped: AbortSignal,
  ): Promise<TurnTranscriptionResult | undefined> {
    let result: TurnTranscriptionResult | undefined;
    try {
      for await (const event of events) {
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
      if (stopped.aborted || error instanceof TurnDroppedError) return undefined;
      const { log, caller } = this.#deps;
      logFailure(log, 'transcription failed', error, { request_id: caller.requestId });
      result = { kind: 'failed', itemId, error };
    } finally {
      audio.discard();
    }
    return call.rejected.aborted ? { kind: 'failed', itemId, error: call.rejected.reason } : result;
  }
}

/** @param end undefined for a transcription without text and without a usage row. */
function previewOf(end: TurnEnd | undefined): TranscriptPreview | undefined {
  if (end !== undefined && end.status !== 'completed') return undefined;
  return { text: end?.transcript ?? '', sentenceEnd: 1 };
}

/** Passes the audio through and counts the samples. */
async function* countedAudio(
  audio: AsyncIterable<AudioChunk>,
  usageMeter: TranscriptionUsageMeter,
  signal: AbortSignal,
): AsyncGenerator<AudioChunk, void, undefined> {
  for await (const piece of untilAborted(audio, signal)) {
    if (piece !== 'pause') usageMeter.addAudio(piece.length);
    yield piece;
  }
}
