/** Types of the speech corpus. */

/** A file of the corpus: mono, 16 bits, 16 kHz. */
export interface Clip {
  readonly id: string;
  readonly audio: string;
  readonly seconds: number;
  /** Spoken text; empty for a sound without speech. */
  readonly text: string;
  readonly language: string;
}

export interface Utterance extends Clip {
  readonly voice: string;
  readonly noise: 'none' | NoiseKind;
}

export interface TimedClip extends Clip {
  /** `3 s`, `8 s`, `25 s` or `5 min`. */
  readonly group: string;
}

export interface TranscriptionCorpus {
  /** Every text by piper and eSpeak, one of them clean and the other with noise. */
  readonly test: readonly Utterance[];
  /** The same texts with clean and noisy exchanged, for tuning, so that `test` stays unseen. */
  readonly tuning: readonly Utterance[];
  readonly recordings: readonly Clip[];
  readonly timed: readonly TimedClip[];
  readonly sounds: readonly Clip[];
}

export type NoiseKind = 'white' | 'pink' | 'babble';
