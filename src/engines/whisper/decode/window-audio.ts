/** The audio of one window and its lazily computed encodings. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { HOP_LENGTH } from '../../../inference/mel/mel-power.ts';
import { type EncodedWindow, FRAME_MULTIPLE, type WhisperGraphs } from '../shared/graphs.ts';
import { FULL_FRAMES, type LogMel } from '../shared/log-mel.ts';
import { type Pause, pausesOf } from '../timestamps/silences.ts';

/** Frames of silence that are encoded after the audio, before the cached silence: half a second. */
const PADDING_FRAMES = 50;

/** The audio of a window and its encodings, each computed on first use. */
export class WindowAudio {
  readonly durationS: number;
  readonly #graphs: WhisperGraphs;
  readonly #mel: LogMel;
  readonly #samples: Float32Samples;
  #short: EncodedWindow | undefined;
  #full: EncodedWindow | undefined;

  constructor(graphs: WhisperGraphs, mel: LogMel, samples: Float32Samples) {
    this.#graphs = graphs;
    this.#mel = mel;
    this.#samples = samples;
    this.durationS = samples.length / LISTEN_RATE_HZ;
  }

  /** Whether the encoding is always that of 30 s: the audio fills the window, or the graphs require a full window. */
  get isFull(): boolean {
    return this.#shortFrames() === FULL_FRAMES;
  }

  /** Returns the encoded audio. @param full whether to pad the audio to 30 s. */
  async encoded(full: boolean): Promise<EncodedWindow> {
    if (full || this.isFull) {
      this.#full ??= await this.#encode(FULL_FRAMES);
      return this.#full;
    }
    this.#short ??= await this.#encode(this.#shortFrames());
    return this.#short;
  }

  /** Pauses of the speech, in order. */
  pauses(): Pause[] {
    return pausesOf(this.#samples);
  }

  #encode(frames: number): Promise<EncodedWindow> {
    return this.#graphs.encode(this.#mel.frames(this.#samples, frames), frames);
  }

  #shortFrames(): number {
    if (!this.#graphs.shortWindows) return FULL_FRAMES;
    const frames = Math.ceil(this.#samples.length / HOP_LENGTH) + PADDING_FRAMES;
    return Math.min(FULL_FRAMES, Math.ceil(frames / FRAME_MULTIPLE) * FRAME_MULTIPLE);
  }
}
