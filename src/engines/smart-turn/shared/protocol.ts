/** Messages between the end-of-turn detector and its process. One request is in flight at a time. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';

/** Length of the input of the model: 8 s. */
export const WINDOW_SAMPLES = 8 * LISTEN_RATE_HZ;

export interface LoadSmartTurn {
  /** Path of the graph. */
  readonly model: string;
  readonly threads: number;
}

/** Classifies the end of a turn. Reply: one {@link FromSmartTurn}. */
export interface ToSmartTurn {
  /** Mono, at {@link LISTEN_RATE_HZ}, at most {@link WINDOW_SAMPLES}. */
  readonly samples: Float32Samples;
}

export interface FromSmartTurn {
  /** Probability, 0–1, that the speaker has finished. */
  readonly probability: number;
}
