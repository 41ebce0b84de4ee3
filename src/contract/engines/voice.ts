/** Speaker embeddings, and adaptation of preset voices to a speaker. */

import type { Float32Samples } from './audio.ts';
import type { Priority } from './engine.ts';

/** Unit vector. The cosine of two embeddings measures the similarity of the speakers. */
export type SpeakerEmbedding = Float32Array;

export interface SpeakerPrint {
  readonly embedding: SpeakerEmbedding;
  /**
   * Embeddings of overlapping windows of 1.6 s, in order, at least one. They differ strongly where the
   * speaker changes.
   */
  readonly partials: readonly SpeakerEmbedding[];
  /** Median pitch in Hz; undefined if hardly any frame is voiced. */
  readonly pitchHz: number | undefined;
}

/** Scheduling parameters of work on a voice. */
export interface VoiceWork {
  readonly priority: Priority;
  /** API key of the request, for fair scheduling between keys (docs/decisions/fairness.md). */
  readonly fairnessKey: string;
}

/** Computes speaker embeddings. */
export interface SpeakerEncoder {
  /**
   * Computes the embedding of a recording.
   * @param samples mono speech at {@link LISTEN_RATE_HZ}, at most 30 s, without long silence.
   * @throws ServiceError `overloaded` if the queue is full, `internal` if a worker crashed; the signal's
   *   reason after an abort.
   */
  encodeSpeaker(samples: Float32Samples, work: VoiceWork, signal: AbortSignal): Promise<SpeakerPrint>;
}

/**
 * Adapts the preset voices of an embedded model to a speaker. This is adaptation, not zero-shot cloning. An
 * adaptation is opaque text of at most 8 kB, which the engine reads from {@link SpokenVoice.adaptation}.
 */
export interface VoiceFitter {
  /**
   * False if no configured model uses adaptations: upstream models clone voices themselves. `createAdaptation`
   * must not be called then.
   */
  readonly isNeeded: boolean;
  /** Whether this version can use an adaptation; otherwise it is created again. */
  isCurrent(adaptation: string): boolean;
  /** Creates an adaptation without synthesis, in less than 10 ms. The same speaker always gets the same one. */
  createAdaptation(speaker: SpeakerPrint): string;
}
