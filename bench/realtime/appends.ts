/** Append events of `/v1/realtime` for speech. */

import { encodeAudio, float32ToInt16 } from '../../src/audio/codec.ts';
import { Resampler } from '../../src/audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';

/** Default sample rate of a session. */
export const SOCKET_RATE_HZ = 24_000;

/** Samples of the corpus at the rate of the socket. */
export function atSocketRate(samples: Float32Samples): Float32Samples {
  const resampler = new Resampler({ fromHz: LISTEN_RATE_HZ, toHz: SOCKET_RATE_HZ, format: 'float32' });
  const converted = joined([resampler.push(samples), resampler.flush()]);
  resampler.close();
  return converted;
}

/** Appends silence. */
export function thenSilence(samples: Float32Samples, ms: number): Float32Samples {
  return joined([samples, new Float32Array((SOCKET_RATE_HZ * ms) / 1000)]);
}

/**
 * Frames of `input_audio_buffer.append`, ready to send.
 * @param samples at {@link SOCKET_RATE_HZ}.
 * @param chunkMs length of a frame; the last one is filled with silence.
 */
export function appendFrames(samples: Float32Samples, chunkMs: number): string[] {
  const chunk = (SOCKET_RATE_HZ * chunkMs) / 1000;
  return Array.from({ length: Math.ceil(samples.length / chunk) }, (_, i) => {
    const piece = new Float32Array(chunk);
    piece.set(samples.subarray(i * chunk, (i + 1) * chunk));
    const audio = Buffer.from(encodeAudio(float32ToInt16(piece), 'pcm16')).toString('base64');
    return JSON.stringify({ type: 'input_audio_buffer.append', audio });
  });
}
