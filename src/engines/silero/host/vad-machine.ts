/**
 * From probabilities and energies of frames to turns. Pure: the same frames give the same events.
 *
 * | state | sure of speech | unsure | sure of none |
 * |---|---|---|---|
 * | silence | candidate; `started` when long enough | silence | silence |
 * | candidate | `started` when long enough | `started` when long enough | silence |
 * | speech | speech | speech | pause: `paused`, and `stopped` when long enough |
 * | pause | speech: `resumed` | `stopped` when long enough | `stopped` when long enough |
 *
 * Sure of speech is a probability above the threshold, sure of none one that is well below it (Silero's own
 * hysteresis), unsure what lies between.
 */

import type { VadEvent, VadSettings } from '../../../contract/engines/engine.ts';
import {
  BLOCK_SAMPLES,
  type Envelope,
  endBefore,
  heard,
  lastSound,
  noiseBefore,
  nothingHeard,
  onsetBefore,
  speechLevel,
} from './speech-edges.ts';

/** Blocks of one millisecond. */
const BLOCKS_PER_MS = 16 / BLOCK_SAMPLES;
/** How far below the threshold speech ends; near zero, half of it. */
const HYSTERESIS = 0.15;

/**
 * The model stays sure for up to 130 ms after speech has ended. When it is sure for longer than that and the
 * least duration, there was speech, even if the envelope shows none, as under a noise that has just ended.
 */
const MODEL_LAG_MS = 160;

/** What is known of a frame of 32 ms. */
export interface Frame {
  /** Of speech, 0–1; 0 where there was nothing to hear. */
  readonly probability: number;
  /** Mean square of each of its blocks, without the offset. */
  readonly energies: readonly number[];
}

/** Positions are blocks of 8 ms since the start of the stream. */
export type VadState = { readonly envelope: Envelope } & (
  | {
      readonly kind: 'silence';
      /** End of the turn before. */
      readonly free: number;
    }
  | {
      readonly kind: 'candidate';
      readonly free: number;
      /** Start of the frame in which the model became sure. */
      readonly crossing: number;
      /** Where its speech began, by what has been heard of it. */
      readonly onset: number;
      /** Energy of the noise before it; undefined when speech began with the stream. */
      readonly noise: number | undefined;
    }
  | { readonly kind: 'speech'; readonly onset: number; readonly noise: number | undefined }
  | {
      readonly kind: 'pause';
      readonly onset: number;
      readonly noise: number | undefined;
      /** Where the speech ended. */
      readonly end: number;
    }
);

/** What one frame led to; samples of the events are at 16 kHz. */
export interface VadStep {
  readonly state: VadState;
  readonly events: readonly VadEvent[];
}

export const initial: VadState = { kind: 'silence', envelope: nothingHeard, free: 0 };

/** The state after a frame. Total: every state takes every frame. */
export function next(state: VadState, frame: Frame, settings: VadSettings): VadStep {
  const envelope = heard(state.envelope, frame.energies);
  const sureOfSpeech = frame.probability > settings.threshold;
  const sureOfNone = frame.probability <= releaseOf(settings.threshold);
  switch (state.kind) {
    case 'silence': {
      const { free } = state;
      if (!sureOfSpeech) return { state: { kind: 'silence', envelope, free }, events: [] };
      const crossing = state.envelope.end;
      const noise = noiseBefore(state.envelope, crossing);
      return startIfLong({ kind: 'candidate', envelope, free, crossing, onset: crossing, noise }, settings);
    }
    case 'candidate':
      if (sureOfNone) return { state: { kind: 'silence', envelope, free: state.free }, events: [] };
      return startIfLong({ ...state, envelope }, settings);
    case 'speech':
      if (!sureOfNone) return { state: { ...state, envelope }, events: [] };
      return pause(state, envelope, settings);
    case 'pause': {
      if (!sureOfSpeech) return stopIfLong({ ...state, envelope }, settings);
      const { onset, noise } = state;
      return { state: { kind: 'speech', envelope, onset, noise }, events: [{ kind: 'resumed' }] };
    }
  }
}

/** The probability at which speech is over. */
function releaseOf(threshold: number): number {
  return Math.max(threshold - HYSTERESIS, threshold / 2);
}

function startIfLong(state: VadState & { kind: 'candidate' }, settings: VadSettings): VadStep {
  const { envelope, crossing, free, noise } = state;
  const { energy } = speechLevel(envelope, crossing, noise ?? 0);
  const onset = onsetBefore(envelope, crossing, energy, free) ?? state.onset;
  const heardMs = ((lastSound(envelope, energy, onset) ?? onset) - onset) / BLOCKS_PER_MS;
  const sureMs = (envelope.end - crossing) / BLOCKS_PER_MS;
  if (Math.max(heardMs, sureMs - MODEL_LAG_MS) < settings.minSpeechDurationMs) {
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
