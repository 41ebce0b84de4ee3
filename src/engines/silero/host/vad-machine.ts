/**
 * State machine from probabilities and energies of frames to speech events. Pure: equal frames give equal events.
 *
 * | state | speech | undecided | silence |
 * |---|---|---|---|
 * | silence | candidate; `started` when long enough | silence | silence |
 * | candidate | `started` when long enough | `started` when long enough | silence |
 * | speech | speech | speech | pause: `paused`, and `stopped` when long enough |
 * | pause | speech: `resumed` | `stopped` when long enough | `stopped` when long enough |
 *
 * A frame is classified as speech above the threshold, as silence well below it (the hysteresis of Silero), and as
 * undecided in between.
 */

import type { VadEvent, VadSettings } from '../../../contract/engines/engine.ts';
import {
  appendFrame,
  BLOCK_SAMPLES,
  EMPTY_ENVELOPE,
  type Envelope,
  endBefore,
  lastSound,
  noiseBefore,
  onsetBefore,
  speechLevel,
} from './speech-edges.ts';

/** Blocks per millisecond. */
const BLOCKS_PER_MS = 16 / BLOCK_SAMPLES;
/** Difference between the threshold and the release threshold; the release threshold is at least half the threshold. */
const HYSTERESIS = 0.15;

/**
 * Upper bound of the lag of the model, which classifies up to 130 ms after the end of speech as speech. If it does so for
 * longer than this plus the minimum duration, a turn starts even if the envelope shows no sound, as after a noise that has
 * just ended.
 */
const MODEL_LAG_MS = 160;

/** A frame of 32 ms. */
export interface Frame {
  /** Probability of speech, 0–1; 0 for quiet frames. */
  readonly probability: number;
  /** Variance of each of its blocks. */
  readonly energies: readonly number[];
}

/** Positions are in blocks of 8 ms from the start of the stream. */
export type VadState = { readonly envelope: Envelope } & (
  | {
      readonly kind: 'silence';
      /** End of the previous turn, before which a turn must not start. */
      readonly free: number;
    }
  | {
      readonly kind: 'candidate';
      readonly free: number;
      /** Start of the first frame that was classified as speech. */
      readonly crossing: number;
      /** Start of the speech, estimated from the envelope so far. */
      readonly onset: number;
      /** Energy of the noise before the speech; undefined when the stream starts with speech. */
      readonly noise: number | undefined;
    }
  | { readonly kind: 'speech'; readonly onset: number; readonly noise: number | undefined }
  | {
      readonly kind: 'pause';
      readonly onset: number;
      readonly noise: number | undefined;
      /** End of the speech. */
      readonly end: number;
    }
);

/** Result of one frame. Sample positions of the events are at 16 kHz. */
export interface VadStep {
  readonly state: VadState;
  readonly events: readonly VadEvent[];
}

export const INITIAL_VAD_STATE: VadState = { kind: 'silence', envelope: EMPTY_ENVELOPE, free: 0 };

/** Returns the state after a frame, and its events. Defined for every state and frame. */
export function advanceVad(state: VadState, frame: Frame, settings: VadSettings): VadStep {
  const envelope = appendFrame(state.envelope, frame.energies);
  const isSpeech = frame.probability > settings.threshold;
  const isSilence = frame.probability <= releaseOf(settings.threshold);
  switch (state.kind) {
    case 'silence': {
      const { free } = state;
      if (!isSpeech) return { state: { kind: 'silence', envelope, free }, events: [] };
      const crossing = state.envelope.end;
      const noise = noiseBefore(state.envelope, crossing);
      return startIfLong({ kind: 'candidate', envelope, free, crossing, onset: crossing, noise }, settings);
    }
    case 'candidate':
      if (isSilence) return { state: { kind: 'silence', envelope, free: state.free }, events: [] };
      return startIfLong({ ...state, envelope }, settings);
    case 'speech':
      if (!isSilence) return { state: { ...state, envelope }, events: [] };
      return pause(state, envelope, settings);
    case 'pause': {
      if (!isSpeech) return stopIfLong({ ...state, envelope }, settings);
      const { onset, noise } = state;
      return { state: { kind: 'speech', envelope, onset, noise }, events: [{ kind: 'resumed' }] };
    }
  }
}

/** The release threshold: the probability at or below which speech ends. */
function releaseOf(threshold: number): number {
  return Math.max(threshold - HYSTERESIS, threshold / 2);
}

function startIfLong(state: VadState & { kind: 'candidate' }, settings: VadSettings): VadStep {
  const { envelope, crossing, free, noise } = state;
  const { energy } = speechLevel(envelope, crossing, noise ?? 0);
  const onset = onsetBefore(envelope, crossing, energy, free) ?? state.onset;
  const soundMs = ((lastSound(envelope, energy, onset) ?? onset) - onset) / BLOCKS_PER_MS;
  const classifiedMs = (envelope.end - crossing) / BLOCKS_PER_MS;
  if (Math.max(soundMs, classifiedMs - MODEL_LAG_MS) < settings.minSpeechDurationMs) {
    return { state: { ...state, onset }, events: [] };
  }
  const onsetSample = onset * BLOCK_SAMPLES;
  const startSample = Math.max(
    free * BLOCK_SAMPLES,
    onsetSample - Math.round(settings.prefixPaddingMs * BLOCKS_PER_MS * BLOCK_SAMPLES),
  );
  return {
    state: { kind: 'speech', envelope, onset, noise },
    events: [{ kind: 'started', onsetSample, startSample }],
  };
}

function pause(state: VadState & { kind: 'speech' }, envelope: Envelope, settings: VadSettings): VadStep {
  const { onset, noise } = state;
  const quietest = noiseBefore(envelope, envelope.end) ?? 0;
  const level = speechLevel(envelope, onset, Math.min(noise ?? quietest, quietest));
  const end = endBefore(envelope, level, onset);
  const paused = { kind: 'pause', envelope, onset, noise, end } as const;
  const { state: after, events } = stopIfLong(paused, settings);
  return { state: after, events: [{ kind: 'paused', endSample: end * BLOCK_SAMPLES }, ...events] };
}

function stopIfLong(state: VadState & { kind: 'pause' }, settings: VadSettings): VadStep {
  const { envelope, end } = state;
  if (envelope.end - end < settings.silenceDurationMs * BLOCKS_PER_MS) return { state, events: [] };
  return {
    state: { kind: 'silence', envelope, free: end },
    events: [{ kind: 'stopped', endSample: end * BLOCK_SAMPLES }],
  };
}
