/** From an uploaded file to the samples of a voice's clip: of the right kind, and as long as it may be. */

import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { Float32Samples } from '../../../src/contract/engines/audio.ts';
import type {
  AllowedFormats,
  AudioFileInfo,
  AudioFileReader,
  OpenAudioFile,
} from '../../../src/contract/engines/audio-file.ts';
import { MAX_CLIP_S, MIN_CLIP_S } from '../../../src/contract/stores/voice-store.ts';
import type { ClipSamples } from './clip-wav.ts';
import { atListenRate, inOne } from './listen-rate.ts';

/** The field of the form. */
export const CLIP_FIELD = 'audio_sample';
const FORMATS: AllowedFormats = {
  containers: new Set(['wav', 'mp3', 'mp4']),
  label: 'WAV, MP3 and M4A or MP4',
};
/**
 * Encoders of MP3 and AAC put silence before the first frame and fill the last one: 0.12 s at 16 kHz, twice that at 8 kHz.
 * A clip that was cut to the longest length before it was encoded is not too long.
 */
const PADDING_S = 0.25;

export interface UploadedClip {
  readonly info: AudioFileInfo;
  readonly durationS: number;
  /** At its own rate, as far as that is one of the service's. */
  readonly own: ClipSamples;
  /** At {@link LISTEN_RATE_HZ}, for what listens to it. */
  readonly heard: Float32Samples;
}

/**
 * Decodes an upload in a process of its own. How long it is says what was decoded, whatever its headers say; nothing
 * beyond the longest clip is decoded.
 * @throws ServiceError `invalid_request` for what is no audio, of another format, too short or too long; `overloaded`
 *   when too many files are being read; the signal's reason after an abort.
 */
export async function uploadedClip(
  audioFiles: AudioFileReader,
  path: string,
  signal: AbortSignal,
): Promise<UploadedClip> {
  const { info, rateHz, samples } = await audioFiles.openFile(path, 'own', CLIP_FIELD, signal, FORMATS);
  const padding = info.container === 'wav' ? 0 : PADDING_S;
  const own = await firstOf(samples, Math.round((MAX_CLIP_S + padding) * rateHz));
  const durationS = own.length / rateHz;
  if (durationS < MIN_CLIP_S) {
    // Rounded down: 4.997 s are not 5.00.
    throw wrongLength(`${(Math.floor(durationS * 100) / 100).toFixed(2)} s long`);
  }
  return { info, durationS, own: { samples: own, rateHz }, heard: await atListenRate(own, rateHz) };
}

/** All samples, as long as there are no more. Ends the decoder. */
async function firstOf(samples: OpenAudioFile['samples'], most: number): Promise<Float32Samples> {
  const runs: Float32Samples[] = [];
  let length = 0;
  try {
    for await (const run of samples) {
      runs.push(run);
      length += run.length;
      if (length > most) throw wrongLength(`longer than ${MAX_CLIP_S} s`);
    }
  } finally {
    await samples.return();
  }
  return inOne(runs);
}

function wrongLength(found: string) {
  return invalidRequest(
    `The audio in '${CLIP_FIELD}' is ${found}; it must be ${MIN_CLIP_S} to ${MAX_CLIP_S} s long.`,
    CLIP_FIELD,
    'invalid_value',
  );
}
