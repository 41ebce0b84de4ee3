/** Selects the parser of a file by its content. */

import type { ByteSource } from '../process/byte-source.ts';
import { UnusableMediaError } from '../process/protocol.ts';
import { type AudioSource, checkShape } from './audio-source.ts';
import { openFfmpegSource } from './ffmpeg-source.ts';
import { identifyFormat } from './file-format.ts';
import { openMediabunnySource } from './mediabunny-source.ts';
import { correctedWav } from './wav-layout.ts';

/** FFmpeg's demuxers of containers in which mediabunny does not know all codecs, for example ALAC, AMR and Speex. */
const SECOND_PARSERS: ReadonlyMap<string, string> = new Map([
  ['mp4', 'mov'],
  ['mov', 'mov'],
  ['mkv', 'matroska'],
  ['webm', 'matroska'],
  ['ogg', 'ogg'],
]);

/**
 * Opens the main audio track of a file.
 * @throws UnusableMediaError if the content is not audio that can be decoded.
 */
export async function openAudioSource(bytes: ByteSource): Promise<AudioSource> {
  const format = await identifyFormat(bytes);
  if (format === undefined) return await openWithEitherParser(bytes);
  if ('codec' in format) throw new UnusableMediaError({ kind: 'unknown-codec', ...format });
  const isBigEndian = Buffer.from(await bytes.read(0, 4)).equals(Buffer.from('RIFX'));
  if (format.container !== 'wav' || isBigEndian) return await openFfmpegSource(bytes, format);
  const wav = await correctedWav(bytes);
  // FFmpeg reports these as a damaged file.
  checkShape(wav);
  const tag = `WAVE format tag 0x${wav.formatTag.toString(16).padStart(4, '0')}`;
  const source = await openFfmpegSource(wav.bytes, format, tag);
  return { ...source, declaredS: wav.durationS ?? source.declaredS };
}

async function openWithEitherParser(bytes: ByteSource): Promise<AudioSource> {
  try {
    return await openMediabunnySource(bytes);
  } catch (error) {
    if (!(error instanceof UnusableMediaError)) throw error;
    const { issue } = error;
    if (issue.kind !== 'no-audio' && issue.kind !== 'unknown-codec') throw error;
    const demuxer = SECOND_PARSERS.get(issue.container);
    if (demuxer === undefined) throw error;
    return await openFfmpegSource(bytes, { container: issue.container, demuxer }).catch((second: unknown) => {
      // The first parser knows the names of codecs better, and tells truncated files from damaged ones.
      throw second instanceof UnusableMediaError && second.issue.kind === 'bad-container' ? error : second;
    });
  }
}
