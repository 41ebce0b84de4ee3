import { LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { seededRandom } from '../../src/kit/math/seeded-random.ts';

/** Centres of the lowest resonances of a mouth that says "ah", in Hz. */
const AH_HZ = [730, 1_090, 2_440];
const DAMPING = 0.97;

/**
 * Something like a voice that sings "ah" with a falling pitch and some breath: pulses through three resonances. The same for the
 * same arguments.
 * @param pitchHz of its middle; it falls by a tenth on either side.
 * @param mouth 1 is a man's, more is a smaller one.
 */
export function voiceSound(pitchHz: number, seconds: number, mouth = 1): Float32Array<ArrayBuffer> {
  const random = seededRandom(3);
  const length = Math.round(seconds * LISTEN_RATE_HZ);
  const resonances = AH_HZ.map((hz) => ({
    turn: 2 * DAMPING * Math.cos((2 * Math.PI * hz * mouth) / LISTEN_RATE_HZ),
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
      const value = pulse + breath + resonance.turn * last - DAMPING * DAMPING * beforeLast;
      resonance.before = [value, last];
      return total + value;
    }, 0);
    return 0.05 * sum;
  });
}
