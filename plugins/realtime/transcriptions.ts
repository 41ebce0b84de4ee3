/** The transcriptions of one connection: runs the engine and writes the usage rows (spec 4.7, rule 9). */

import type { Caller } from '../../src/contract/caller.ts';
import type { HeardAudio, SttEngine, Transcript, TranscriptionTask } from '../../src/contract/engine.ts';
import type { Id } from '../../src/contract/id.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { unknownModel } from '../../src/http/model-routes.ts';
import { aborted } from '../../src/kit/aborted.ts';
import { untilAborted } from '../../src/kit/until-aborted.ts';
import type { Turn } from '../../src/listen/listener.ts';
import { TranscriptionTally } from '../../src/usage/call-tally.ts';
import { failureOf } from './refusal.ts';
import { Runs } from './runs.ts';
import type { Ended, TranscriptionFact } from './transcription-machine.ts';

/** How a turn is to be transcribed, as the session was when the turn began. */
export interface TranscriptionAsk {
  readonly model: string;
  readonly task: TranscriptionTask;
  readonly language: string | undefined;
  readonly prompt: string | undefined;
}

export interface TranscriptionParts extends Pick<Slots, 'stt' | 'usage' | 'log'> {
  readonly caller: Caller;
  /** Never called before the call that caused it has returned. */
  readonly report: (fact: TranscriptionFact) => void;
}

/**
 * Performs the effects of the transcription machine. A committed turn has exactly one usage row, which is
 * stored before the turn's end is reported: whoever reads the end may look for the row. A turn that was
 * stopped reports nothing more.
 */
export class Transcriptions {
  readonly #parts: TranscriptionParts;
  readonly #runs = new Runs<Id<'item'> | symbol>();
  /** Turns that were begun before they were committed, with what tells them that they are. */
  readonly #early = new Map<Id<'item'>, () => void>();

  constructor(parts: TranscriptionParts) {
    this.#parts = parts;
  }

  /** Begins a turn. One that is not committed yet has no row, and no end, before {@link confirm}. */
  start(turn: Turn, ask: TranscriptionAsk, committed: boolean): void {
    const { itemId } = turn;
    const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>();
    if (committed) confirm();
    else this.#early.set(itemId, confirm);
    this.#runs.start(itemId, (signal) => this.#run(turn, ask, confirmed, signal));
  }

  /** The turn was committed. */
  confirm(itemId: Id<'item'>): void {
    this.#early.get(itemId)?.();
  }

  /** Ends a turn: its engine is freed within one window; if it was committed, its row is written. */
  stop(itemId: Id<'item'>): void {
    this.#runs.stop(itemId);
  }

  /** Writes the row of a committed turn that will never begin: a call that consumed nothing. */
  abandon({ model, task }: TranscriptionAsk): void {
    const tally = new TranscriptionTally(this.#parts, { model, task }, this.#parts.caller);
    this.#runs.start(Symbol(), () => tally.write('cancelled'));
  }

  /** Stops what is running. Resolves when every engine has let go and every row is stored. */
  close(): Promise<void> {
    return this.#runs.close();
  }

  async #run(
    turn: Turn,
    ask: TranscriptionAsk,
    confirmed: Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const tally = new TranscriptionTally(this.#parts, ask, this.#parts.caller);
    const end = await this.#transcribe(turn, ask, tally, signal);
    const counts = await Promise.race([confirmed.then(() => true), aborted(signal).then(() => false)]);
    this.#early.delete(turn.itemId);
    if (!counts) return;
    await tally.write(end?.kind ?? 'cancelled');
    if (end !== undefined && !signal.aborted) this.#parts.report(end);
  }

  /** Reports the deltas; gives back how it ended, or undefined when it was stopped. */
  async #transcribe(
    { itemId, audio }: Turn,
    { model, ...ask }: TranscriptionAsk,
    tally: TranscriptionTally,
    signal: AbortSignal,
  ): Promise<Ended | undefined> {
    try {
      let final: Transcript | undefined;
      const request = { ...ask, timestamps: 'none', priority: 'realtime' } as const;
      for await (const event of this.#engine(model).transcribe(
        heard(audio, tally, signal),
        request,
        signal,
      )) {
        signal.throwIfAborted();
        tally.says(event);
        if (event.kind === 'final') final = event.transcript;
        else this.#parts.report({ kind: 'delta', itemId, text: event.text });
      }
      if (final === undefined) throw new Error('the engine ended without a transcript');
      const { text: transcript, inputTokens, outputTokens: output } = final;
      return { kind: 'completed', itemId, transcript, tokens: { ...inputTokens, output } };
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#parts.log.error('transcription failed', error, { request_id: this.#parts.caller.requestId });
      return { kind: 'failed', itemId, error: failureOf(error) };
    } finally {
      // An engine that failed may have left it half read, or never begun to read.
      audio.discard();
    }
  }

  #engine(model: string): SttEngine {
    const { stt } = this.#parts;
    const engine = stt.get(model);
    if (engine === undefined) throw unknownModel(stt.ids, 'invalid_request');
    return engine;
  }
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
