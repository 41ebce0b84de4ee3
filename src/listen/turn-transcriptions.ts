/** Transcriptions of turns: runs the engine for each, a call that is billed (spec 4.7, rule 9; spec 1, logged rows). */

import type { Caller } from '../contract/accounts/caller.ts';
import type { EndpointLabel } from '../contract/accounts/usage.ts';
import type { Id } from '../contract/core/id.ts';
import type { Traceparent } from '../contract/core/tracer.ts';
import type { AudioChunk, Transcript, TranscriptionTask } from '../contract/engines/engine.ts';
import { requireModel } from '../contract/model-table.ts';
import type { Slots } from '../contract/plugin.ts';
import { aborted } from '../kit/async/aborted.ts';
import { TaskGroup } from '../kit/async/task-group.ts';
import { untilAborted } from '../kit/async/until-aborted.ts';
import { logFailure } from '../kit/logging/note-failure.ts';
import { withSpan } from '../kit/logging/spans.ts';
import { TranscriptionUsageMeter } from '../usage/call-tally.ts';
import { TurnDroppedError } from './turn-audio.ts';
import { TurnCall } from './turn-call.ts';
import type { Turn } from './turn-segmenter.ts';

/** How a turn is to be transcribed, as was asked when it began. */
export interface TranscriptionParams {
  readonly model: string;
  readonly task: TranscriptionTask;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
  /** Label of the usage row; absent: that of the task. */
  readonly endpoint?: EndpointLabel;
  /** `no_row`: a turn in which nothing was said is forgotten. Absent: it is a call like others. */
  readonly silence?: 'no_row';
}

/** Tokens that a transcription consumed and made. */
export interface TranscriptTokens {
  readonly audio: number;
  readonly text: number;
  readonly output: number;
}

/** The last fact of a turn. */
export type TurnTranscriptionResult =
  | {
      readonly kind: 'completed';
      readonly itemId: Id<'item'>;
      readonly transcript: string;
      readonly tokens: TranscriptTokens;
    }
  /** What was thrown may hold private text. */
  | { readonly kind: 'failed'; readonly itemId: Id<'item'>; readonly error: unknown };

/** What is told of a turn: words as they come, then its end. */
export type TurnTranscriptionEvent =
  | { readonly kind: 'delta'; readonly itemId: Id<'item'>; readonly text: string }
  | TurnTranscriptionResult;

export interface TurnTranscriptionsDeps extends Pick<Slots, 'stt' | 'calls' | 'log' | 'tracer'> {
  readonly caller: Caller;
  /** Never called before the call that caused it has returned. */
  readonly report: (fact: TurnTranscriptionEvent) => void;
}

/**
 * Runs the recogniser for turns. A confirmed turn is one call: nothing is reported of it before it is open, and
 * its usage row is stored before its end is reported: whoever reads the end may look for the row. A turn that was
 * stopped reports nothing more.
 */
export class TurnTranscriptions {
  readonly #deps: TurnTranscriptionsDeps;
  readonly #runs = new TaskGroup<Id<'item'> | symbol>();
  /** Of turns that were confirmed or begun, and have not ended. */
  readonly #calls = new Map<Id<'item'>, TurnCall>();
  /** The request that made the connection. */
  readonly #cause: Traceparent | undefined;

  /** To be called while the request is answered that makes the connection: traces of turns are linked to it. */
  constructor(deps: TurnTranscriptionsDeps) {
    this.#deps = deps;
    this.#cause = deps.tracer.currentTraceparent();
  }

  /** Begins a turn. One that is not confirmed yet reports nothing, and has no row, before {@link confirm}. */
  start(turn: Turn, ask: TranscriptionParams): void {
    const call = this.#callOf(turn, ask);
    const { tracer, caller } = this.#deps;
    const attributes = { request_id: caller.requestId, model: ask.model };
    this.#runs.start(turn.itemId, (signal) =>
      withSpan(tracer, 'turn', { parent: 'none', cause: this.#cause, attributes }, () =>
        this.#run(turn, ask, call, signal),
      ),
    );
  }

  /**
   * The turn counts, since before or after its start. Resolves with whether its call is open; one that is refused
   * has failed.
   * @param maxS most audio that it will have: that of a committed turn, or a bound while it may still grow.
   */
  async confirm(turn: Turn, ask: TranscriptionParams, maxS = turn.audio.lengthS): Promise<boolean> {
    const call = this.#callOf(turn, ask);
    await call.confirm(this.#deps.calls, maxS);
    return !call.refused.aborted;
  }

  /** Ends a turn: its engine is freed within one window; if it was confirmed, its row is written. */
  stop(itemId: Id<'item'>): void {
    this.#runs.stop(itemId);
  }

  /** Writes the row of a confirmed turn that will never begin: a call that consumed nothing. */
  abandon(itemId: Id<'item'>): void {
    const call = this.#calls.get(itemId);
    this.#calls.delete(itemId);
    if (call !== undefined) this.#runs.start(Symbol(), () => call.abandon());
  }

  /** Stops what is running. Resolves when every engine has let go and every row is stored. */
  close(): Promise<void> {
    return this.#runs.close();
  }

  #callOf({ itemId }: Turn, ask: TranscriptionParams): TurnCall {
    const known = this.#calls.get(itemId);
    if (known !== undefined) return known;
    const call = new TurnCall(new TranscriptionUsageMeter(ask, this.#deps.caller));
    this.#calls.set(itemId, call);
    return call;
  }

  async #run(turn: Turn, ask: TranscriptionParams, call: TurnCall, signal: AbortSignal): Promise<void> {
    const { itemId } = turn;
    call.listen((text) => {
      if (!signal.aborted) this.#deps.report({ kind: 'delta', itemId, text });
    });
    // A committed turn is worked on when its call is open; one that may still be dropped is worked on at once.
    if (call.isConfirmed) await call.settled;
    const end = await this.#transcribe(turn, ask, call, signal);
    if (!call.isConfirmed) await Promise.race([call.settled, aborted(signal)]);
    this.#calls.delete(itemId);
    if (!call.isConfirmed) return;
    await call.settled;
    if (isNothing(end) && ask.silence === 'no_row') await call.tally.discard();
    else await call.tally.close(end?.kind ?? 'cancelled');
    const refused = { kind: 'failed', itemId, error: call.refused.reason } as const;
    const told = call.refused.aborted ? refused : end;
    if (told !== undefined && !signal.aborted) this.#deps.report(told);
  }

  /** Hands on the words; gives back how it ended, or undefined when it was stopped. */
  async #transcribe(
    { itemId, audio }: Turn,
    { model, task, language, prompt }: TranscriptionParams,
    call: TurnCall,
    stopped: AbortSignal,
  ): Promise<TurnTranscriptionResult | undefined> {
    const { tally } = call;
    const signal = AbortSignal.any([stopped, call.refused]);
    try {
      signal.throwIfAborted();
      let final: Transcript | undefined;
      const { keyId: owner } = this.#deps.caller;
      const ask = { task, language, prompt } as const;
      const request = { ...ask, timestamps: 'none', priority: 'realtime', owner } as const;
      for await (const event of requireModel(this.#deps.stt, model).transcribe(
        heard(audio, tally, signal),
        request,
        signal,
      )) {
        signal.throwIfAborted();
        tally.addEvent(event);
        if (event.kind === 'final') final = event.transcript;
        else call.say(event.text);
      }
      if (final === undefined) throw new Error('the engine ended without a transcript');
      const { text: transcript, inputTokens, outputTokens: output } = final;
      return { kind: 'completed', itemId, transcript, tokens: { ...inputTokens, output } };
    } catch (error) {
      // One that was dropped is not awaited by anybody, though its stop may come later.
      if (stopped.aborted || error instanceof TurnDroppedError) return undefined;
      const { log, caller } = this.#deps;
      logFailure(log, 'transcription failed', error, { request_id: caller.requestId });
      return { kind: 'failed', itemId, error };
    } finally {
      // An engine that failed may have left it half read, or never begun to read.
      audio.discard();
    }
  }
}

function isNothing(end: TurnTranscriptionResult | undefined): boolean {
  return end?.kind === 'completed' && end.transcript === '';
}

/** The audio of a turn, counted as it is taken. */
async function* heard(
  audio: AsyncIterable<AudioChunk>,
  tally: TranscriptionUsageMeter,
  signal: AbortSignal,
): AsyncGenerator<AudioChunk, void, undefined> {
  for await (const piece of untilAborted(audio, signal)) {
    if (piece !== 'pause') tally.addAudio(piece.length);
    yield piece;
  }
}
