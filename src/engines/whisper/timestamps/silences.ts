/** Detects pauses in the audio of a window by its level, to correct words that the alignment stretches over a pause. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';

export interface Pause {
  readonly startS: number;
  readonly endS: number;
}

const FRAME_S = 0.02;
const FRAME_SAMPLES = FRAME_S * LISTEN_RATE_HZ;
/** Minimum duration of a pause. Shorter gaps are closures of consonants within words. */
const MIN_S = 0.2;
/** Quantiles of the frame levels that define the noise floor and the speech level. */
const FLOOR_SHARE = 0.1;
const SPEECH_SHARE = 0.9;
/** Minimum difference of the speech level and the noise floor, in dB. It is smaller in music and noise. */
const MIN_CONTRAST_DB = 15;
/** Maximum level of a pause, as a share of the range from the noise floor to the speech level. */
const QUIET_SHARE = 0.35;
/** Power of -100 dBFS, added so that digital silence has a finite level. */
const SILENCE = 1e-10;

/**
 * Returns the pauses in order; none when they cannot be distinguished from speech.
 * @param samples mono, 16 kHz.
 */
export function pausesOf(samples: Float32Samples): Pause[] {
  const levels = levelsDb(samples);
  const sorted = levels.toSorted();
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const [floor, speech] = [at(FLOOR_SHARE), at(SPEECH_SHARE)];
  if (speech - floor < MIN_CONTRAST_DB) return [];
  const maxPauseLevel = floor + QUIET_SHARE * (speech - floor);
  const pauses: Pause[] = [];
  let first: number | undefined;
  for (let frame = 0; frame <= levels.length; frame++) {
    const level = levels[frame];
    if (level !== undefined && level <= maxPauseLevel) {
      first ??= frame;
      continue;
    }
    if (first !== undefined && (frame - first) * FRAME_S >= MIN_S) {
      pauses.push({ startS: first * FRAME_S, endS: frame * FRAME_S });
    }
    first = undefined;
  }
  return pauses;
}

/** Mean power of each frame, in dBFS. */
function levelsDb(samples: Float32Samples): Float32Array {
  const levels = new Float32Array(Math.floor(samples.length / FRAME_SAMPLES));
  for (const frame of levels.keys()) {
    let power = 0;
    for (let index = frame * FRAME_SAMPLES; index < (frame + 1) * FRAME_SAMPLES; index++) {
      const sample = samples[index] ?? 0;
      power += sample * sample;
    }
    levels[frame] = 10 * Math.log10(power / FRAME_SAMPLES + SILENCE);
  }
  return levels;
}
