/** The transcriptions of one connection: runs the engine for each, a call that is billed (spec 4.7, rule 9). */

import type { Caller } from '../../src/contract/caller.ts';
import type { HeardAudio, Transcript, TranscriptionTask } from '../../src/contract/engine.ts';
import type { Id } from '../../src/contract/id.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { requireModel } from '../../src/http/model-routes.ts';
import { aborted } from '../../src/kit/aborted.ts';
import { untilAborted } from '../../src/kit/until-aborted.ts';
import type { Turn } from '../../src/listen/listener.ts';
import { TurnDropped } from '../../src/listen/turn-audio.ts';
import { TranscriptionTally } from '../../src/usage/call-tally.ts';
import { failureOf } from './refusal.ts';
import { Runs } from './runs.ts';
import type { Ended, TranscriptionFact } from './transcription-machine.ts';
import { TurnCall } from './turn-call.ts';

/** How a turn is to be transcribed, as the session was when the turn began. */
export interface TranscriptionAsk {
  readonly model: string;
  readonly task: TranscriptionTask;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
}

export interface TranscriptionParts extends Pick<Slots, 'stt' | 'calls' | 'log'> {
  readonly caller: Caller;
  /** Never called before the call that caused it has returned. */
  readonly report: (fact: TranscriptionFact) => void;
}

/**
 * Performs the effects of the transcription machine. A committed turn is one call: nothing is reported of it
 * before it is open, and its usage row is stored before its end is reported: whoever reads the end may look for
 * the row. A turn that was stopped reports nothing more.
 */
export class Transcriptions {
  readonly #parts: TranscriptionParts;
  readonly #runs = new Runs<Id<'item'> | symbol>();
  /** Of turns that were confirmed or begun, and have not ended. */
  readonly #calls = new Map<Id<'item'>, TurnCall>();

  constructor(parts: TranscriptionParts) {
    this.#parts = parts;
  }

  /** Begins a turn. One that is not confirmed yet reports nothing, and has no row, before {@link confirm}. */
  start(turn: Turn, ask: TranscriptionAsk): void {
    const call = this.#callOf(turn, ask);
    this.#runs.start(turn.itemId, (signal) => this.#run(turn, ask, call, signal));
  }

  /** The turn was committed, before or after its start. */
  confirm(turn: Turn, ask: TranscriptionAsk): void {
    void this.#callOf(turn, ask).confirm(this.#parts.calls, turn.audio.lengthS);
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

  #callOf({ itemId }: Turn, ask: TranscriptionAsk): TurnCall {
    const known = this.#calls.get(itemId);
    if (known !== undefined) return known;
    const call = new TurnCall(new TranscriptionTally(ask, this.#parts.caller));
    this.#calls.set(itemId, call);
    return call;
  }

  async #run(turn: Turn, ask: TranscriptionAsk, call: TurnCall, signal: AbortSignal): Promise<void> {
    const { itemId } = turn;
    call.listen((text) => {
      if (!signal.aborted) this.#parts.report({ kind: 'delta', itemId, text });
    });
    // A committed turn is worked on when its call is open; one that may still be dropped is worked on at once.
    if (call.isConfirmed) await call.settled;
    const end = await this.#transcribe(turn, ask, call, signal);
    if (!call.isConfirmed) await Promise.race([call.settled, aborted(signal)]);
    this.#calls.delete(itemId);
    if (!call.isConfirmed) return;
    await call.settled;
    await call.tally.close(end?.kind ?? 'cancelled');
    const told = call.refused.aborted ? failed(itemId, call.refused.reason) : end;
    if (told !== undefined && !signal.aborted) this.#parts.report(told);
  }

  /** Hands on the words; gives back how it ended, or undefined when it was stopped. */
  async #transcribe(
    { itemId, audio }: Turn,
    { model, ...ask }: TranscriptionAsk,
    call: TurnCall,
    stopped: AbortSignal,
  ): Promise<Ended | undefined> {
    const { tally } = call;
    const signal = AbortSignal.any([stopped, call.refused]);
    try {
      signal.throwIfAborted();
      let final: Transcript | undefined;
      const { keyId: owner } = this.#parts.caller;
      const request = { ...ask, timestamps: 'none', priority: 'realtime', owner } as const;
      for await (const event of requireModel(this.#parts.stt, model).transcribe(
        heard(audio, tally, signal),
        request,
        signal,
      )) {
        signal.throwIfAborted();
        tally.says(event);
        if (event.kind === 'final') final = event.transcript;
        else call.say(event.text);
      }
      if (final === undefined) throw new Error('the engine ended without a transcript');
      const { text: transcript, inputTokens, outputTokens: output } = final;
      return { kind: 'completed', itemId, transcript, tokens: { ...inputTokens, output } };
    } catch (error) {
      // One that was dropped is not awaited by anybody, though its stop may come later.
      if (stopped.aborted || error instanceof TurnDropped) return undefined;
      this.#parts.log.error('transcription failed', error, { request_id: this.#parts.caller.requestId });
      return failed(itemId, error);
    } finally {
      // An engine that failed may have left it half read, or never begun to read.
      audio.discard();
    }
  }
}

function failed(itemId: Id<'item'>, error: unknown): Ended {
  return { kind: 'failed', itemId, error: failureOf(error) };
}

/** The audio of a turn, counted as it is taken. */
async function* heard(
  audio: AsyncIterable<HeardAudio>,
  tally: TranscriptionTally,
  signal: AbortSignal,
): AsyncGenerator<HeardAudio, void, undefined> {
  for await (const piece of untilAborted(audio, signal)) {
    if (piece !== 'pause') tally.hears(piece.length);
    yield piece;
  }
}
