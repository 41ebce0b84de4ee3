/** Runs a billed transcription for each turn (spec 4.7, rule 9; spec 1, logged rows). */

import type { Caller } from '../contract/accounts/caller.ts';
import type { EndpointLabel } from '../contract/accounts/usage.ts';
import type { Id } from '../contract/core/id.ts';
import type { Traceparent } from '../contract/core/tracer.ts';
import type {
  AudioChunk,
  TextToken,
  Transcript,
  TranscriptDelta,
  TranscriptionTask,
  TranscriptPreview,
} from '../contract/engines/engine.ts';
import { requireModel } from '../contract/model-table.ts';
import type { Slots } from '../contract/plugin.ts';
import { TaskGroup } from '../kit/async/task-group.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';
import { logFailure } from '../kit/logging/log-failure.ts';
import { withSpan } from '../kit/logging/spans.ts';
import { TranscriptionUsageMeter } from '../usage/usage-meters.ts';
import { TurnDroppedError } from './turn-audio.ts';
import { TurnCall } from './turn-call.ts';
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

/**
 * Runs the transcription engine for turns. A confirmed turn is one call: nothing is reported before the call
 * is open, and its usage row is committed before the final event. A stopped turn reports nothing more.
 */
export class TurnTranscriptions {
  readonly #deps: TurnTranscriptionsDeps;
  readonly #tasks = new TaskGroup<Id<'item'> | symbol>();
  /** Calls of turns that are confirmed or started, and not finished. */
  readonly #calls = new Map<Id<'item'>, TurnCall>();
  /** Trace context of the request that opened the connection. */
  readonly #cause: Traceparent | undefined;

  /** Must be called while that request is handled, so that the traces of turns are linked to it. */
  constructor(deps: TurnTranscriptionsDeps) {
    this.#deps = deps;
    this.#cause = deps.tracer.currentTraceparent();
  }

  /** Starts the transcription of a turn. Before {@link confirm} it reports nothing and has no usage row. */
  start(turn: Turn, params: TranscriptionParams): void {
    const call = this.#callOf(turn, params);
    const { tracer, caller } = this.#deps;
    const attributes = { request_id: caller.requestId, model: params.model };
    this.#tasks.start(turn.itemId, (signal) =>
      withSpan(tracer, 'turn', { parent: 'none', cause: this.#cause, attributes }, () =>
        this.#run(turn, params, call, signal),
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
    const call = this.#callOf(turn, params);
    await call.confirm(this.#deps.calls, maxS);
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
    const call = this.#calls.get(itemId);
    this.#calls.delete(itemId);
    if (call !== undefined) this.#tasks.start(Symbol(), () => call.abandon());
  }

  /** Stops all transcriptions. Resolves when every engine is released and every usage row is stored. */
  close(): Promise<void> {
    return this.#tasks.close();
  }

  #callOf({ itemId }: Turn, params: TranscriptionParams): TurnCall {
    const known = this.#calls.get(itemId);
    if (known !== undefined) return known;
    const call = new TurnCall(new TranscriptionUsageMeter(params, this.#deps.caller));
    this.#calls.set(itemId, call);
    return call;
  }

  async #run(turn: Turn, params: TranscriptionParams, call: TurnCall, signal: AbortSignal): Promise<void> {
    const { itemId } = turn;
    call.listen((delta) => {
      if (!signal.aborted) this.#deps.report({ kind: 'delta', itemId, ...delta });
    });
    // A confirmed turn waits until its call is open. A turn that may still be dropped starts immediately.
    if (call.isConfirmed) await call.settled;
    const result = await this.#transcribe(turn, params, call, signal);
    if (!call.isConfirmed && result !== undefined) {
      // The turn has ended.
      const preview = result.kind === 'completed' ? { text: result.transcript, sentenceEnd: 1 } : undefined;
      this.#deps.onPreview?.(itemId, preview);
    }
    if (!call.isConfirmed) await Promise.race([call.settled, waitForAbort(signal)]);
    this.#calls.delete(itemId);
    if (!call.isConfirmed) return;
    await call.settled;
    if (isEmpty(result) && params.silence === 'no_row') await call.usageMeter.discard();
    else await call.usageMeter.close(result?.kind ?? 'cancelled');
    const rejected = { kind: 'failed', itemId, error: call.rejected.reason } as const;
    const lastEvent = call.rejected.aborted ? rejected : result;
    if (lastEvent !== undefined && !signal.aborted) this.#deps.report(lastEvent);
  }

  /** Reports the text. Returns the result, or undefined if the turn was stopped. */
  async #transcribe(
    { itemId, audio }: Turn,
    { model, task, language, languages, prompt, keywords, textTokens }: TranscriptionParams,
    call: TurnCall,
    stopped: AbortSignal,
  ): Promise<TurnTranscriptionResult | undefined> {
    const { usageMeter } = call;
    const signal = AbortSignal.any([stopped, call.rejected]);
    try {
      signal.throwIfAborted();
      let final: Transcript | undefined;
      const { caller, onPreview } = this.#deps;
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
      for await (const event of requireModel(this.#deps.stt, model).transcribe(
        countedAudio(audio, usageMeter, signal),
        request,
        signal,
      )) {
        signal.throwIfAborted();
        usageMeter.addEvent(event);
        if (event.kind === 'final') final = event.transcript;
        else call.pushText(event);
      }
      if (final === undefined) throw new Error('the engine ended without a transcript');
      const { text: transcript, inputTokens, outputTokens: output } = final;
      const result = { kind: 'completed', itemId, transcript, tokens: { ...inputTokens, output } } as const;
      return { ...result, textTokens: final.tokens };
    } catch (error) {
      // A dropped turn needs no result, even if its stop arrives later.
      if (stopped.aborted || error instanceof TurnDroppedError) return undefined;
      const { log, caller } = this.#deps;
      logFailure(log, 'transcription failed', error, { request_id: caller.requestId });
      return { kind: 'failed', itemId, error };
    } finally {
      // A failed engine may have read only a part of the audio.
      audio.discard();
    }
  }
}

function isEmpty(result: TurnTranscriptionResult | undefined): boolean {
  return result?.kind === 'completed' && result.transcript === '';
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
