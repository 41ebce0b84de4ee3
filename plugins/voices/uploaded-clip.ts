/** From an uploaded file to the samples of a voice's clip: of the right kind, and as long as it may be. */

import { type Float32Samples, LISTEN_RATE_HZ, MAX_RATE_HZ, MIN_RATE_HZ } from '../../src/contract/audio.ts';
import type { AllowedFormats, AudioFileInfo, AudioFileReader } from '../../src/contract/audio-file.ts';
import { invalidRequest } from '../../src/contract/error.ts';
import { LONGEST_CLIP_S, SHORTEST_CLIP_S } from '../../src/contract/voice-store.ts';

/** The field of the form. */
export const CLIP_FIELD = 'audio_sample';
const FORMATS: AllowedFormats = {
  containers: new Set(['wav', 'mp3', 'mp4']),
  words: 'WAV, MP3 and M4A or MP4',
};
/**
 * Encoders of MP3 and AAC put silence before the first frame and fill the last one: 0.12 s at 16 kHz, twice that at 8 kHz.
 * A clip that was cut to the longest length before it was encoded is not too long.
 */
const PADDING_S = 0.25;

export interface UploadedClip {
  readonly info: AudioFileInfo;
  readonly durationS: number;
  /** At {@link LISTEN_RATE_HZ}, for what listens to it. */
  readonly heard: Float32Samples;
  /** At its own rate, as far as that is one of the service's. */
  readonly own: { readonly samples: Float32Samples; readonly rateHz: number };
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
  const { info, samples: heard } = await decoded(audioFiles, path, LISTEN_RATE_HZ, signal);
  const durationS = heard.length / LISTEN_RATE_HZ;
  if (durationS < SHORTEST_CLIP_S) throw wrongLength(`${durationS.toFixed(2)} s long`);
  const rateHz = Math.min(MAX_RATE_HZ, Math.max(MIN_RATE_HZ, info.rateHz));
  const own = rateHz === LISTEN_RATE_HZ ? heard : (await decoded(audioFiles, path, rateHz, signal)).samples;
  return { info, durationS, heard, own: { samples: own, rateHz } };
}

async function decoded(audioFiles: AudioFileReader, path: string, rateHz: number, signal: AbortSignal) {
  const { info, samples } = await audioFiles.open(path, rateHz, CLIP_FIELD, signal, FORMATS);
  try {
    const padding = info.container === 'wav' ? 0 : PADDING_S;
    const most = Math.round((LONGEST_CLIP_S + padding) * rateHz);
    const runs: Float32Samples[] = [];
    let length = 0;
    for await (const run of samples) {
      runs.push(run);
      length += run.length;
      if (length > most) throw wrongLength(`longer than ${LONGEST_CLIP_S} s`);
    }
    return { info, samples: joined(runs, length) };
  } finally {
    await samples.return();
  }
}

function wrongLength(found: string) {
  return invalidRequest(
    `The audio in '${CLIP_FIELD}' is ${found}; it must be ${SHORTEST_CLIP_S} to ${LONGEST_CLIP_S} s long.`,
    CLIP_FIELD,
    'invalid_value',
  );
}

function joined(runs: readonly Float32Samples[], length: number): Float32Samples {
  const samples = new Float32Array(length);
  let at = 0;
  for (const run of runs) {
    samples.set(run, at);
    at += run.length;
  }
  return samples;
}
