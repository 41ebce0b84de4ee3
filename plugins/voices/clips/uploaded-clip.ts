/** Decodes an uploaded file and validates its format and length. */

import { concatenate } from '../../../src/audio/concatenate.ts';
import type { WavContent } from '../../../src/audio/wav.ts';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { Float32Samples } from '../../../src/contract/engines/audio.ts';
import type {
  AllowedFormats,
  AudioFileInfo,
  AudioFileReader,
  OpenAudioFile,
} from '../../../src/contract/engines/audio-file.ts';
import { MAX_CLIP_S, MIN_CLIP_S } from '../../../src/contract/stores/voice-store.ts';
import { resampleToListenRate } from './resample.ts';

/** Name of the form field. */
export const CLIP_FIELD = 'audio_sample';
const FORMATS: AllowedFormats = {
  containers: new Set(['wav', 'mp3', 'mp4']),
  label: 'WAV, MP3 and M4A or MP4',
};
/**
 * Tolerance for MP3 and AAC, whose encoders pad the start and the end: 0.12 s at 16 kHz, twice that at 8 kHz. A clip that
 * had the maximum length before encoding is accepted.
 */
const PADDING_S = 0.25;

export interface UploadedClip {
  readonly info: AudioFileInfo;
  readonly durationS: number;
  /** At the rate of the upload, clamped to the supported range. */
  readonly original: WavContent;
  /** At {@link LISTEN_RATE_HZ}, for the checks. */
  readonly resampled: Float32Samples;
}

/**
 * Decodes an upload in a separate process. The length is that of the decoded audio, regardless of the headers; decoding
 * stops at the maximum length.
 * @throws ServiceError `invalid_request` if the file is not audio, has another format, or is too short or too long;
 *   `overloaded` if too many files are being read; the reason of the signal.
 */
export async function decodeUploadedClip(
  audioFiles: AudioFileReader,
  path: string,
  signal: AbortSignal,
): Promise<UploadedClip> {
  const { info, rateHz, samples } = await audioFiles.openFile(path, 'own', CLIP_FIELD, signal, FORMATS);
  const padding = info.container === 'wav' ? 0 : PADDING_S;
  const original = await readSamples(samples, Math.round((MAX_CLIP_S + padding) * rateHz));
  const durationS = original.length / rateHz;
  if (durationS < MIN_CLIP_S) {
    // Rounded down: 4.997 s must not be shown as 5.00.
    throw wrongLength(`${(Math.floor(durationS * 100) / 100).toFixed(2)} s long`);
  }
  return {
    info,
    durationS,
    original: { samples: original, rateHz },
    resampled: await resampleToListenRate(original, rateHz),
  };
}

/** Reads all samples up to a maximum. Stops the decoder. */
async function readSamples(samples: OpenAudioFile['samples'], maxSamples: number): Promise<Float32Samples> {
  const chunks: Float32Samples[] = [];
  let length = 0;
  try {
    for await (const chunk of samples) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxSamples) throw wrongLength(`longer than ${MAX_CLIP_S} s`);
    }
  } finally {
    await samples.return();
  }
  return concatenate(chunks);
}

function wrongLength(found: string) {
  return invalidRequest(
    `The audio in '${CLIP_FIELD}' is ${found}; it must be ${MIN_CLIP_S} to ${MAX_CLIP_S} s long.`,
    CLIP_FIELD,
    'invalid_value',
  );
}
