import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Compressed files that `test/media/encode-media.ts` makes: name, container and codec as the reader tells them. */
export const ENCODED = [
  ['tone.mp3', 'mp3', 'mp3'],
  ['tone.m4a', 'mp4', 'aac'],
  ['tone.moov-last.m4a', 'mp4', 'aac'],
  ['tone.fragmented.mp4', 'mp4', 'aac'],
  ['tone.mov', 'mov', 'pcm-s24'],
  ['tone.flac', 'flac', 'flac'],
  ['tone.opus.ogg', 'ogg', 'opus'],
  ['tone.vorbis.ogg', 'ogg', 'vorbis'],
  ['tone.webm', 'webm', 'opus'],
  ['tone.mkv', 'mkv', 'aac'],
  ['tone.aac', 'aac', 'aac'],
] as const;

export interface EncodedFiles {
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

/** Makes one file of each kind with a stereo tone of 440 Hz at half of full scale, 48 kHz. */
export async function encodedFiles(seconds: number): Promise<EncodedFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'voice-service-media-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const encoder = Bun.spawn(
    [process.execPath, join(import.meta.dirname, 'encode-media.ts'), folder, `${seconds}`],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const said = await new Response(encoder.stderr).text();
  if ((await encoder.exited) !== 0) {
    await remove();
    throw new Error(`test files could not be encoded: ${said}`);
  }
  return { folder, remove };
}
