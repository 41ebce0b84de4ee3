/** Estimated playback of the assistant's audio by the client, which receives audio faster than it plays it. */

import { decodeToFloat32 } from '../audio/codec.ts';
import { concatenate } from '../audio/concatenate.ts';
import { resample } from '../audio/resampler.ts';
import type { Clock } from '../contract/core/clock.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../contract/engines/audio.ts';
import { PlaybackClock } from '../kit/playback-clock.ts';
import { type AudioFormat, sampleBytes } from '../listen/audio-format.ts';
import type { TimedWord } from './items/item.ts';

/** Played audio and words are kept for this time, in ms: an echo arrives later than it was played. */
const MEMORY_MS = 4_000;
/** Maximum duration of the audio that is kept, in ms. Audio beyond it is not recognized when it comes back as an echo. */
export const MAX_KEPT_MS = 120_000;

/** Times are monotonic, in ms. */
interface Piece {
  readonly startMs: number;
  readonly endMs: number;
  readonly audio: Uint8Array;
  readonly format: AudioFormat;
}

interface Word {
  readonly startMs: number;
  readonly text: string;
}

export class Playback {
  readonly #clock: Clock;
  #playback = new PlaybackClock();
  /** Time at which all received audio has been played. */
  #endMs = Number.NEGATIVE_INFINITY;
  #pieces: Piece[] = [];
  #words: Word[] = [];
  /** Start of the playback of the current item. */
  #itemStartMs = 0;
  #itemId: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the client has received any audio. */
  get hasStarted(): boolean {
    return this.#endMs > Number.NEGATIVE_INFINITY;
  }

  /** Audio that is not played yet, in ms. */
  get aheadMs(): number {
    return this.#playback.aheadMs(this.#clock.monotonicMs()) ?? 0;
  }

  /** Time since the end of the playback, in ms; 0 during the playback, infinite before it. */
  get silentMs(): number {
    return Math.max(0, this.#clock.monotonicMs() - this.#endMs);
  }

  /** The client receives audio of an item. */
  addAudio(itemId: string, audio: Uint8Array, format: AudioFormat): void {
    const now = this.#clock.monotonicMs();
    const lengthMs = (audio.length * 1000) / (sampleBytes(format) * format.rateHz);
    this.#playback.addAudio(lengthMs, now);
    const endMs = now + this.aheadMs;
    this.#endMs = endMs;
    const startMs = endMs - lengthMs;
    if (itemId !== this.#itemId) {
      this.#itemId = itemId;
      this.#itemStartMs = startMs;
    }
    this.#forget(now);
    const keptMs = endMs - (this.#pieces[0]?.startMs ?? startMs);
    if (keptMs <= MAX_KEPT_MS) this.#pieces.push({ startMs, endMs, audio, format });
  }

  /** Words of an item that has audio or is the next one. */
  addWords(itemId: string, words: readonly TimedWord[]): void {
    const itemStartMs =
      itemId === this.#itemId ? this.#itemStartMs : this.#clock.monotonicMs() + this.aheadMs;
    for (const { text, startMs } of words) this.#words.push({ text, startMs: itemStartMs + startMs });
  }

  /** The client discards the audio that it has not played. */
  stop(): void {
    const now = this.#clock.monotonicMs();
    this.#playback = new PlaybackClock(now);
    this.#endMs = Math.min(this.#endMs, now);
    this.#pieces = this.#pieces.filter(({ startMs }) => startMs < now);
    this.#words = this.#words.filter(({ startMs }) => startMs < now);
  }

  /** Text that was played in the last `pastMs`. */
  recentText(pastMs: number): string {
    const now = this.#clock.monotonicMs();
    return this.#words
      .filter(({ startMs }) => startMs <= now && startMs >= now - pastMs)
      .map(({ text }) => text)
      .join('');
  }

  /** Audio that was played in the last `pastMs`, mono at 16 kHz. Gaps are omitted. */
  recentAudio(pastMs: number): Float32Samples {
    const now = this.#clock.monotonicMs();
    const pieces = this.#pieces.filter(({ startMs, endMs }) => startMs <= now && endMs >= now - pastMs);
    const [first] = pieces;
    if (first === undefined) return new Float32Array(0);
    const decoded = pieces.map(({ audio, format }) => decodeToFloat32(audio, format.encoding));
    return resample(concatenate(decoded), first.format.rateHz, LISTEN_RATE_HZ);
  }

  #forget(now: number): void {
    const kept = this.#pieces.findIndex(({ endMs }) => endMs >= now - MEMORY_MS);
    if (kept > 0) this.#pieces.splice(0, kept);
    const keptWords = this.#words.findIndex(({ startMs }) => startMs >= now - MEMORY_MS);
    if (keptWords > 0) this.#words.splice(0, keptWords);
  }
}
