/** Where nobody speaks in the audio of a window, told by its level: for words that an alignment stretches over it. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';

export interface Pause {
  readonly startS: number;
  readonly endS: number;
}

const FRAME_S = 0.02;
const FRAME_SAMPLES = FRAME_S * LISTEN_RATE_HZ;
/** Shorter ones are the closures of consonants, which are part of words. */
const MIN_S = 0.2;
/** Shares of the frames that are quieter than what counts as the floor, and as speech. */
const FLOOR_SHARE = 0.1;
const SPEECH_SHARE = 0.9;
/** Floor and speech that are nearer to each other than this, in dB, tell nothing: music, or a noise. */
const MIN_CONTRAST_DB = 15;
/** From the floor to speech: how far up a pause may reach. */
const QUIET_SHARE = 0.35;
/** -100 dB of full scale, so that digital silence has a level. */
const SILENCE = 1e-10;

/**
 * Pauses in order, none when they cannot be told from speech.
 * @param samples mono, 16 kHz.
 */
export function pausesOf(samples: Float32Samples): Pause[] {
  const levels = levelsDb(samples);
  const sorted = levels.toSorted();
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const [floor, speech] = [at(FLOOR_SHARE), at(SPEECH_SHARE)];
  if (speech - floor < MIN_CONTRAST_DB) return [];
  const quietest = floor + QUIET_SHARE * (speech - floor);
  const pauses: Pause[] = [];
  let first: number | undefined;
  for (let frame = 0; frame <= levels.length; frame++) {
    const level = levels[frame];
    if (level !== undefined && level <= quietest) {
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

/** Mean power of each frame, in dB of full scale. */
function levelsDb(samples: Float32Samples): Float32Array {
  const levels = new Float32Array(Math.floor(samples.length / FRAME_SAMPLES));
  for (const frame of levels.keys()) {
    let power = 0;
    for (let at = frame * FRAME_SAMPLES; at < (frame + 1) * FRAME_SAMPLES; at++) {
      const sample = samples[at] ?? 0;
      power += sample * sample;
    }
    levels[frame] = 10 * Math.log10(power / FRAME_SAMPLES + SILENCE);
  }
  return levels;
}
