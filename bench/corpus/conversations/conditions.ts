/** Conditions of a call: noise and the band of a telephone. */

import { decodeToFloat32, encodeAudio, float32ToInt16 } from '../../../src/audio/codec.ts';
import { Resampler } from '../../../src/audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { joined } from '../../../tools/harness/media/sample-runs.ts';
import { noise, withNoise } from '../noise.ts';

const TELEPHONE_RATE_HZ = 8000;
const NOISE_RATIO_DB = 10;
const CONDITIONS = ['clean', 'clean', 'clean', '10 dB noise', 'telephone', 'telephone, 10 dB noise'] as const;
export type Condition = (typeof CONDITIONS)[number];

/** The condition of a clip: half of the clips are clean. */
export function conditionOf(clip: number): Condition {
  return CONDITIONS[clip % CONDITIONS.length] ?? 'clean';
}

/** Applies a condition to a clip with silence. @param seed of the noise. */
export function underCondition(samples: Float32Samples, condition: Condition, seed: number): Float32Samples {
  const noisy = condition.includes('noise')
    ? withNoise(samples, noise('pink', samples.length, seed), NOISE_RATIO_DB)
    : samples;
  return condition.includes('telephone') ? overTelephone(noisy) : noisy;
}

/** 8 kHz with G.711 µ-law, and back. */
function overTelephone(samples: Float32Samples): Float32Samples {
  const narrow = resampled(samples, LISTEN_RATE_HZ, TELEPHONE_RATE_HZ);
  const decoded = decodeToFloat32(encodeAudio(float32ToInt16(narrow), 'mulaw'), 'mulaw');
  return resampled(decoded, TELEPHONE_RATE_HZ, LISTEN_RATE_HZ);
}

function resampled(samples: Float32Samples, fromHz: number, toHz: number): Float32Samples {
  const resampler = new Resampler({ fromHz, toHz, format: 'float32' });
  const result = joined([resampler.push(samples), resampler.flush()]);
  resampler.close();
  return result;
}
