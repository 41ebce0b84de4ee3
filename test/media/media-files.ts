import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cachedFiles } from '../../tools/harness/media/fixture-cache.ts';

/** Files of `test/media/encode-media.ts`: name, and container and codec as reported by the reader. */
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

/** Encodes one file of each kind with a stereo tone of 440 Hz at half of full scale, 48 kHz. */
export async function encodedFiles(seconds: number): Promise<EncodedFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'voice-service-media-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const encoder = join(import.meta.dirname, 'encode-media.ts');
  const names = ENCODED.map(([name]) => name);
  try {
    await cachedFiles(folder, { parameters: seconds, sources: [encoder] }, names, async (cache) => {
      const child = Bun.spawn([process.execPath, encoder, cache, `${seconds}`], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const errors = await new Response(child.stderr).text();
      if ((await child.exited) !== 0) throw new Error(`test files could not be encoded: ${errors}`);
    });
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, remove };
}
