/**
 * What the customer's open turn sounds like so far: the turn is transcribed again from its beginning, every so often
 * while it is spoken. It costs at most half of the time, and only what nobody else needs.
 */

import type { Clock } from '../../../src/contract/core/clock.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { SttEngine } from '../../../src/contract/engines/engine.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
import { AudioQueue } from '../../../src/listen/audio-queue.ts';
import { TurnAudio } from '../../../src/listen/turn-audio.ts';

/** Longest turn of which this is done: what a recogniser takes in one window. */
const MAX_S = 30;
/** Kept while nobody speaks: a turn begins in the past, by its prefix and what a detector needs to be sure. */
const KEPT_S = 5;

export interface PartialsParts {
  readonly engine: SttEngine;
  /** ISO 639-1; undefined: the engine finds out. Asked for each time. */
  readonly language: () => string | undefined;
  /** API key for which the work is done. */
  readonly fairnessKey: string;
  /** New audio after which a turn is transcribed again; 0 is never. */
  readonly everyMs: number;
  readonly clock: Clock;
  readonly report: (itemId: Id<'item'>, text: string) => void;
}

interface OpenTurn {
  readonly itemId: Id<'item'>;
  /** Positions of the run. */
  readonly startSample: number;
  triedSample: number;
  text: string;
}

export class Partials {
  readonly #parts: PartialsParts;
  #run: AudioQueue;
  /** Position of the run's first sample in all audio of the call. */
  #startMs = 0;
  #open: OpenTurn | undefined;
  #stop = new AbortController();
  /** One at a time, also while an engine lets go of an earlier turn. */
  #running: Promise<void> | undefined;
  /** Not before this time again. */
  #freeMs = 0;

  constructor(parts: PartialsParts, format: AudioFormat) {
    this.#parts = parts;
    this.#run = new AudioQueue(format);
  }

  /** From now on audio comes in this format; an open turn has ended. */
  configure(format: AudioFormat): void {
    this.#startMs += this.#msOf(this.#run.endSample);
    this.#run = new AudioQueue(format);
    this.#forgetTurn();
  }

  /** Takes audio, which must not be changed any more. */
  hear(bytes: Uint8Array): void {
    if (this.#parts.everyMs === 0) return;
    this.#run.push(bytes);
    if (this.#open !== undefined) this.#try(this.#open);
    else this.#run.discardBefore(this.#run.endSample - KEPT_S * this.#run.format.rateHz);
  }

  /** @param startMs of the turn, in all audio of the call. */
  begin(itemId: Id<'item'>, startMs: number): void {
    const { rateHz } = this.#run.format;
    const asked = Math.round(((startMs - this.#startMs) * rateHz) / 1000);
    const startSample = Math.min(this.#run.endSample, Math.max(this.#run.startSample, asked));
    this.#open = { itemId, startSample, triedSample: startSample, text: '' };
  }

  /** The turn is complete: whoever transcribes all of it is quicker. */
  end(itemId: Id<'item'>): void {
    if (this.#open?.itemId === itemId) this.#forgetTurn();
  }

  /** Resolves when the engine has let go. */
  async close(): Promise<void> {
    this.#forgetTurn();
    await this.#running;
  }

  #forgetTurn(): void {
    this.#open = undefined;
    this.#stop.abort();
    this.#stop = new AbortController();
  }

  #try(open: OpenTurn): void {
    const { everyMs, clock } = this.#parts;
    const { endSample } = this.#run;
    if (this.#running !== undefined || clock.monotonicMs() < this.#freeMs) return;
    if (this.#msOf(endSample - open.triedSample) < everyMs) return;
    if (this.#msOf(endSample - open.startSample) > MAX_S * 1000) return;
    open.triedSample = endSample;
    const bytes = this.#run.bytes(open.startSample, endSample);
    this.#running = this.#transcribe(open, bytes, this.#stop.signal).finally(() => {
      this.#running = undefined;
    });
  }

  async #transcribe(open: OpenTurn, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const { engine, language, fairnessKey, clock, report } = this.#parts;
    const audio = TurnAudio.of(bytes, this.#run.format);
    const request = {
      task: 'transcribe',
      language: language(),
      timestamps: 'none',
      priority: 'batch',
      fairnessKey,
    } as const;
    const beganMs = clock.monotonicMs();
    try {
      for await (const event of engine.transcribe(audio, request, signal)) {
        signal.throwIfAborted();
        if (event.kind !== 'final') continue;
        const { text } = event.transcript;
        if (text !== open.text) report(open.itemId, text);
        open.text = text;
      }
    } catch {
      // The turn itself goes on, and tells what is wrong when it fails too.
    } finally {
      audio.discard();
      const nowMs = clock.monotonicMs();
      this.#freeMs = nowMs + (nowMs - beganMs);
    }
  }

  #msOf(samples: number): number {
    return (samples * 1000) / this.#run.format.rateHz;
  }
}
