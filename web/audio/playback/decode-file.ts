import { ServiceError } from '../../client/service-error.ts';
import type { Samples } from '../pcm.ts';

/**
 * Decodes an audio file with the decoders of the browser.
 * @param rateHz sample rate of the result.
 * @param format name of the format, for the error message.
 * @throws ServiceError if the browser cannot decode the file.
 */
export async function decodeFile(
  bytes: ArrayBuffer,
  rateHz: number,
  format: string,
): Promise<{ readonly samples: Samples; readonly rateHz: number }> {
  const context = new OfflineAudioContext({ numberOfChannels: 1, length: 1, sampleRate: rateHz });
  const decoded = await context.decodeAudioData(bytes).catch(() => {
    const message = `This browser cannot play ${format.toUpperCase()}. The file can be downloaded.`;
    throw new ServiceError(message, { status: 0 });
  });
  const samples = Int16Array.from(decoded.getChannelData(0), (sample) =>
    Math.round(Math.max(-1, Math.min(1, sample)) * 0x7fff),
  );
  return { samples, rateHz };
}
