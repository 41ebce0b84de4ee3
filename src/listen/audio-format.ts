/** Format of received audio: encoding and sample rate. Audio is always mono. */

import type { Encoding } from '../audio/codec.ts';

export type { Encoding } from '../audio/codec.ts';

export interface AudioFormat {
  readonly encoding: Encoding;
  readonly rateHz: number;
}

/** Returns the size of one sample in bytes: 2 for linear PCM, 1 for G.711 (spec 4.7, rule 3). */
export function sampleBytes({ encoding }: AudioFormat): 1 | 2 {
  return encoding === 'pcm16' ? 2 : 1;
}

export function sameFormat(one: AudioFormat, other: AudioFormat): boolean {
  return one.encoding === other.encoding && one.rateHz === other.rateHz;
}
