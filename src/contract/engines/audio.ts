/** Words for sound that every folder shares. Samples are mono; rates are in Hz. */

/** Rate of the speech that `POST /v1/audio/speech` returns (spec 4.3: raw PCM, mono, 24 kHz). */
export const SPEECH_RATE_HZ = 24_000;

/** Rate of the audio that speech recognition and voice activity detection work on. */
export const LISTEN_RATE_HZ = 16_000;

/** Lowest and highest rate of linear PCM that the service accepts or makes (spec 4.7, rule 3). */
export const MIN_RATE_HZ = 8_000;
export const MAX_RATE_HZ = 48_000;

/** A run of mono samples in -1…1, full scale at ±1. */
export type Float32Samples = Float32Array<ArrayBuffer>;
/** A run of mono samples, signed 16-bit. */
export type Int16Samples = Int16Array<ArrayBuffer>;
