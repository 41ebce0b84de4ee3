/** The audio of one window, encoded as far as it is needed. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import { HOP_LENGTH } from '../../mel/mel-power.ts';
import { type EncodedWindow, FRAME_MULTIPLE, type WhisperGraphs } from '../shared/graphs.ts';
import { FULL_FRAMES, type LogMel } from '../shared/log-mel.ts';
import { type Pause, pausesOf } from '../timestamps/silences.ts';

/** Frames of silence that are encoded behind the audio, before the kept silence takes over: half a second. */
const PADDING_FRAMES = 50;

/** The audio of a window and its encodings, each made when it is first needed. */
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

  /** Whether its audio fills 30 s, or the graphs take no less. */
  get isFull(): boolean {
    return this.#shortFrames() === FULL_FRAMES;
  }

  /** @param full with all 30 s, however short the audio is. */
  async encoded(full: boolean): Promise<EncodedWindow> {
    if (full || this.isFull) {
      this.#full ??= await this.#encode(FULL_FRAMES);
      return this.#full;
    }
    this.#short ??= await this.#encode(this.#shortFrames());
    return this.#short;
  }

  /** Where nobody is heard, in order. */
  pauses(): Pause[] {
    return pausesOf(this.#samples);
  }

  #encode(frames: number): Promise<EncodedWindow> {
    return this.#graphs.encode(this.#mel.frames(this.#samples, frames), frames);
  }

  #shortFrames(): number {
    if (!this.#graphs.shortWindows) return FULL_FRAMES;
    const heard = Math.ceil(this.#samples.length / HOP_LENGTH) + PADDING_FRAMES;
    return Math.min(FULL_FRAMES, Math.ceil(heard / FRAME_MULTIPLE) * FRAME_MULTIPLE);
  }
}
