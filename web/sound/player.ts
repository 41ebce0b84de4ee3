import { floatsOf, type Samples } from './pcm.ts';

/** Scheduled before the first piece is heard, against a late second piece. */
const LEAD_S = 0.08;
/** What is scheduled; more waits as it came, which takes half the memory. */
const AHEAD_S = 10;

/**
 * When a piece is to begin, in seconds of the clock that plays it: where the one before ends, or, when that is over, soon.
 */
export function startOf(endS: number, nowS: number): number {
  return endS > nowS ? endS : nowS + LEAD_S;
}

interface Piece {
  readonly samples: Samples;
  readonly rateHz: number;
}

/** Plays pieces of mono sound one after the other, without a gap. Whoever opened it closes it. */
export class Player {
  readonly #context: AudioContext;
  readonly #onSilent: () => void;
  readonly #playing = new Set<AudioBufferSourceNode>();
  #waiting: Piece[] = [];
  #endS = 0;

  /**
   * To be made while the browser deals with a click or a key: some are silent otherwise.
   * @param rateHz of most pieces: browsers resample each other one for itself, which can be heard where two meet.
   * @param onSilent told whenever all that was given has been heard, or was stopped.
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
      const piece = this.#waiting.shift();
      if (piece === undefined) return;
      const buffer = this.#context.createBuffer(1, piece.samples.length, piece.rateHz);
      buffer.copyToChannel(floatsOf(piece.samples), 0);
      const source = this.#context.createBufferSource();
      source.buffer = buffer;
      source.connect(this.#context.destination);
      source.onended = () => this.#ended(source);
      this.#playing.add(source);
      const startS = startOf(this.#endS, this.#context.currentTime);
      source.start(startS);
      this.#endS = startS + buffer.duration;
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

  /** Silence at once; what is given later is played again. */
  stop(): void {
    this.#waiting = [];
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
