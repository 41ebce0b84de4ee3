import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { seededRandom } from '../../src/kit/math/seeded-random.ts';

/** Formant frequencies of the vowel "ah", in Hz. */
const AH_HZ = [730, 1_090, 2_440];
const DAMPING = 0.97;

/**
 * A synthetic vowel with falling pitch and noise: pulses through three resonances. Deterministic.
 * @param pitchHz pitch in the middle; it falls from 110% to 90%.
 * @param formantScale factor of the formant frequencies; 1 is a male voice.
 */
export function voiceSound(pitchHz: number, seconds: number, formantScale = 1): Float32Array<ArrayBuffer> {
  const random = seededRandom(3);
  const length = Math.round(seconds * LISTEN_RATE_HZ);
  const resonances = AH_HZ.map((hz) => ({
    coefficient: 2 * DAMPING * Math.cos((2 * Math.PI * hz * formantScale) / LISTEN_RATE_HZ),
    before: [0, 0] as [number, number],
  }));
  let phase = 0;
  return Float32Array.from({ length }, (_, i) => {
    phase += (pitchHz * (1.1 - (0.2 * i) / length)) / LISTEN_RATE_HZ;
    const pulse = phase >= 1 ? 1 : 0;
    phase -= pulse;
    const breath = 0.02 * (random() - 0.5);
    const sum = resonances.reduce((total, resonance) => {
      const [last, beforeLast] = resonance.before;
      const value = pulse + breath + resonance.coefficient * last - DAMPING * DAMPING * beforeLast;
      resonance.before = [value, last];
      return total + value;
    }, 0);
    return 0.05 * sum;
  });
}
