/** What tells voices apart, and what brings a model near to one. */

import type { Float32Samples } from './audio.ts';
import type { Priority } from './engine.ts';

/** Of unit length; the cosine of two says how alike the speakers sound. */
export type SpeakerEmbedding = Float32Array;

export interface SpeakerPrint {
  readonly embedding: SpeakerEmbedding;
  /** Of overlapping windows of 1.6 s, in order, at least one: they differ much where the speaker changes. */
  readonly partials: readonly SpeakerEmbedding[];
  /** Median, in Hz; undefined for what is hardly voiced. */
  readonly pitchHz: number | undefined;
}

/** For whom work on a voice is done. */
export interface VoiceWork {
  readonly priority: Priority;
  /** API key for which the work is done: owners take turns (docs/decisions/fairness.md). */
  readonly fairnessKey: string;
}

/** Tells speakers apart by the sound of their voice. */
export interface SpeakerEncoder {
  /**
   * @param samples mono speech at {@link LISTEN_RATE_HZ}, at most 30 s, without long silence.
   * @throws ServiceError `overloaded` when the queue is full, `internal` when a worker died; the signal's reason
   *   after an abort.
   */
  encodeSpeaker(samples: Float32Samples, work: VoiceWork, signal: AbortSignal): Promise<SpeakerPrint>;
}

/**
 * Brings an embedded model that speaks with presets near to a speaker: adaptation, not zero-shot cloning. What it makes is
 * opaque text of at most 8 kB, which the engine of such a model finds in {@link SpokenVoice.adaptation}.
 */
export interface VoiceFitter {
  /**
   * False when no configured model needs it: all voices are then used by servers that clone by themselves. `begin`
   * and `improve` must not be called.
   */
  readonly isNeeded: boolean;
  /** Whether an adaptation can be used by this version; one that cannot is made anew. */
  isCurrent(adaptation: string): boolean;
  /** A first adaptation, at once: nothing is spoken for it. */
  createInitial(speaker: SpeakerPrint): string;
  /**
   * Better and better ones, each a step from the last, in the background: it takes only what others leave of the
   * machine.
   * @param samples as for {@link SpeakerEncoder.encodeSpeaker}.
   * @param from of `begin`, or an earlier one of this.
   * @param budgetMs of time; a few steps are tried even when others left it nothing of that. Ends earlier when nothing
   *   more is gained.
   */
  improveAdaptation(
    samples: Float32Samples,
    from: string,
    budgetMs: number,
    fairnessKey: string,
    signal: AbortSignal,
  ): AsyncGenerator<string, void, undefined>;
}
