/**
 * Produces partial transcripts: while a turn is open, all of it is transcribed repeatedly, at batch priority and for at
 * most half of the time.
 */

import type { Clock } from '../../../src/contract/core/clock.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { SttEngine } from '../../../src/contract/engines/engine.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
import { AudioQueue } from '../../../src/listen/audio-queue.ts';
import { TurnAudio } from '../../../src/listen/turn-audio.ts';

/** Maximum length of a turn with partials: the window of a transcription model. */
const MAX_S = 30;
/** Audio retained without an open turn: a turn starts in the past because of its prefix and the detection delay. */
const RETAINED_S = 5;

export interface PartialTranscriberDeps {
  readonly engine: SttEngine;
  /** ISO 639-1 code; undefined: automatic detection. Called for every transcription. */
  readonly language: () => string | undefined;
  /** Id of the API key that the work is scheduled for. */
  readonly fairnessKey: string;
  /** New audio after which a turn is transcribed again, in ms; 0 turns partials off. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly report: (itemId: Id<'item_'>, text: string) => void;
}

interface OpenTurn {
  readonly itemId: Id<'item_'>;
  /** Position in the audio queue. */
  readonly startSample: number;
  transcribedSample: number;
  text: string;
}

export class PartialTranscriber {
  readonly #deps: PartialTranscriberDeps;
  #audio: AudioQueue<AudioFormat>;
  /** Position of the queue's first sample in the audio of the call. */
  #startMs = 0;
  #openTurn: OpenTurn | undefined;
  #abort = new AbortController();
  /** The running transcription. At most one runs, including one of an earlier turn that is being aborted. */
  #running: Promise<void> | undefined;
  /** Monotonic time before which no transcription starts. */
  #nextAllowedMs = 0;

  constructor(deps: PartialTranscriberDeps, format: AudioFormat) {
    this.#deps = deps;
    this.#audio = new AudioQueue(format);
  }

  /** Changes the audio format. The open turn must have ended. */
  configure(format: AudioFormat): void {
    this.#startMs += this.#msOf(this.#audio.endSample);
    this.#audio = new AudioQueue(format);
    this.#clearTurn();
  }

  /** Appends audio. The bytes must not be modified afterwards. */
  append(bytes: Uint8Array): void {
    if (this.#deps.intervalMs === 0) return;
    this.#audio.push(bytes);
    if (this.#openTurn !== undefined) this.#transcribeIfDue(this.#openTurn);
    else this.#audio.discardBefore(this.#audio.endSample - RETAINED_S * this.#audio.format.rateHz);
  }

  /** @param startMs start of the turn in the audio of the call. */
  startTurn(itemId: Id<'item_'>, startMs: number): void {
    const { rateHz } = this.#audio.format;
    const requested = Math.round(((startMs - this.#startMs) * rateHz) / 1000);
    const startSample = Math.min(this.#audio.endSample, Math.max(this.#audio.startSample, requested));
    this.#openTurn = { itemId, startSample, transcribedSample: startSample, text: '' };
  }

  /** Ends the turn, whose final transcription replaces partials. */
  endTurn(itemId: Id<'item_'>): void {
    if (this.#openTurn?.itemId === itemId) this.#clearTurn();
  }

  /** Resolves when the engine is released. */
  async close(): Promise<void> {
    this.#clearTurn();
    await this.#running;
  }

  #clearTurn(): void {
    this.#openTurn = undefined;
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  #transcribeIfDue(open: OpenTurn): void {
    const { intervalMs, clock } = this.#deps;
    const { endSample } = this.#audio;
    if (this.#running !== undefined || clock.monotonicMs() < this.#nextAllowedMs) return;
    if (this.#msOf(endSample - open.transcribedSample) < intervalMs) return;
    if (this.#msOf(endSample - open.startSample) > MAX_S * 1000) return;
    open.transcribedSample = endSample;
    const bytes = this.#audio.bytes(open.startSample, endSample);
    this.#running = this.#transcribe(open, bytes, this.#abort.signal).finally(() => {
      this.#running = undefined;
    });
  }

  async #transcribe(open: OpenTurn, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const { engine, language, fairnessKey, clock, report } = this.#deps;
    const audio = TurnAudio.of(bytes, this.#audio.format);
    const request = {
      task: 'transcribe',
      language: language(),
      timestamps: 'none',
      priority: 'batch',
      fairnessKey,
    } as const;
    const startedMs = clock.monotonicMs();
    try {
      for await (const event of engine.transcribe(audio, request, signal)) {
        signal.throwIfAborted();
        if (event.kind !== 'final') continue;
        const { text } = event.transcript;
        if (text !== open.text) report(open.itemId, text);
        open.text = text;
      }
    } catch {
      // Ignored: if the final transcription of the turn fails too, it reports the error.
    } finally {
      audio.discard();
      const nowMs = clock.monotonicMs();
      this.#nextAllowedMs = nowMs + (nowMs - startedMs);
    }
  }

  #msOf(samples: number): number {
    return (samples * 1000) / this.#audio.format.rateHz;
  }
}
