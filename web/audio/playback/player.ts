import { floatsOf, type Samples } from '../pcm.ts';
import { PlaybackPosition } from './playback-position.ts';

/** Lead in seconds before the first chunk, so that a late second chunk causes no gap. */
const LEAD_S = 0.08;
/**
 * Seconds of audio that are scheduled ahead; the rest stays queued as 16-bit samples, half the size of
 * floats.
 */
const AHEAD_S = 10;

/**
 * Start time of a chunk in seconds of the audio clock: the end of the previous chunk, or, if that has passed,
 * now plus a lead.
 */
export function startOf(endS: number, nowS: number): number {
  return endS > nowS ? endS : nowS + LEAD_S;
}

interface Chunk {
  readonly samples: Samples;
  readonly rateHz: number;
}

/** Plays chunks of mono audio without gaps. The caller closes it. */
export class Player {
  readonly #context: AudioContext;
  readonly #onSilent: () => void;
  readonly #playing = new Set<AudioBufferSourceNode>();
  readonly #position = new PlaybackPosition();
  #waiting: Chunk[] = [];
  #endS = 0;

  /**
   * Must be created in the handler of a user gesture: browsers block audio otherwise.
   * @param rateHz sample rate of most chunks; browsers resample chunks of other rates separately, with
   * audible boundaries.
   * @param onSilent called whenever all queued audio was played or stopped.
   */
  constructor(rateHz: number, onSilent: () => void) {
    this.#context = new AudioContext({ sampleRate: rateHz });
    this.#onSilent = onSilent;
  }

  play(samples: Samples, rateHz: number): void {
    if (samples.length === 0) return;
    this.#waiting.push({ samples, rateHz });
    void this.#context.resume();
    this.#schedule();
  }

  #schedule(): void {
    while (this.#endS < this.#context.currentTime + AHEAD_S) {
      const chunk = this.#waiting.shift();
      if (chunk === undefined) return;
      const buffer = this.#context.createBuffer(1, chunk.samples.length, chunk.rateHz);
      buffer.copyToChannel(floatsOf(chunk.samples), 0);
      const source = this.#context.createBufferSource();
      source.buffer = buffer;
      source.connect(this.#context.destination);
      source.onended = () => this.#ended(source);
      this.#playing.add(source);
      const startS = startOf(this.#endS, this.#context.currentTime);
      source.start(startS);
      this.#endS = startS + buffer.duration;
      this.#position.add(startS, this.#endS);
    }
  }

  #ended(source: AudioBufferSourceNode): void {
    this.#playing.delete(source);
    this.#schedule();
    if (!this.playing) this.#onSilent();
  }

  get playing(): boolean {
    return this.#playing.size > 0 || this.#waiting.length > 0;
  }

  /** Duration of the audio that the user has heard since the last {@link stop}, in ms. */
  get playedMs(): number {
    const { currentTime, outputLatency = 0 } = this.#context;
    return this.#position.playedS(currentTime - outputLatency) * 1000;
  }

  /** Stops playback and clears the queue; later chunks are played again. */
  stop(): void {
    this.#waiting = [];
    this.#position.clear();
    for (const source of this.#playing) source.stop();
    this.#endS = 0;
  }

  close(): void {
    for (const source of this.#playing) source.onended = null;
    this.#playing.clear();
    this.#waiting = [];
    void this.#context.close();
  }
}
