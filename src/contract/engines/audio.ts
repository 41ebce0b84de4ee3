/** Audio types and sample rates. Samples are mono; rates are in Hz. */

/** Sample rate of `POST /v1/audio/speech` (spec 4.3: raw PCM, mono, 24 kHz). */
export const SPEECH_RATE_HZ = 24_000;

/** Sample rate of speech recognition and voice activity detection. */
export const LISTEN_RATE_HZ = 16_000;

/** Range of sample rates of linear PCM (spec 4.7, rule 3). */
export const MIN_RATE_HZ = 8_000;
export const MAX_RATE_HZ = 48_000;

/** Mono samples in -1…1, full scale at ±1. */
export type Float32Samples = Float32Array<ArrayBuffer>;
/** Mono samples, signed 16-bit. */
export type Int16Samples = Int16Array<ArrayBuffer>;
