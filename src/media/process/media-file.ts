import { type FileHandle, open } from 'node:fs/promises';
import { ADTS, CustomSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from 'mediabunny';

/** Formats of one file each. The library's playlists, which name other files, are left out. */
const CONTAINER_NAMES: ReadonlyMap<object, string> = new Map<object, string>([
  [WAVE, 'wav'],
  [MP4, 'mp4'],
  [QTFF, 'mov'],
  [MATROSKA, 'mkv'],
  [WEBM, 'webm'],
  [OGG, 'ogg'],
  [FLAC, 'flac'],
  [MP3, 'mp3'],
  [ADTS, 'aac'],
]);
const FORMATS = [WAVE, MP4, QTFF, MATROSKA, WEBM, OGG, FLAC, MP3, ADTS];
const CACHE_BYTES = 1 << 20;

/** An open file, and what reads its container. */
export interface MediaFile {
  readonly input: Input;
  readonly file: FileHandle;
  /** Closes both. */
  close(): Promise<void>;
}

/** @throws the system's error when the path cannot be opened. */
export async function openMediaFile(path: string): Promise<MediaFile> {
  const file = await open(path, 'r');
  const input = new Input({ formats: FORMATS, source: await sourceOf(file) });
  return {
    input,
    file,
    close: async () => {
      input.dispose();
      await file.close();
    },
  };
}

/** Bytes of an open file, so that the library holds no path. */
async function sourceOf(file: FileHandle): Promise<CustomSource> {
  const { size } = await file.stat();
  return new CustomSource({
    getSize: () => size,
    read: async (start, end) => {
      const bytes = new Uint8Array(end - start);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
      return bytes.subarray(0, bytesRead);
    },
    maxCacheSize: CACHE_BYTES,
    prefetchProfile: 'fileSystem',
  });
}

/**
 * What a file is by its content; undefined for what is none of the formats. What is too short to be told apart makes
 * the library fail in other ways than what it does not know.
 */
export async function containerOf(input: Input): Promise<string | undefined> {
  try {
    return CONTAINER_NAMES.get(await input.getFormat());
  } catch {
    return undefined;
  }
}
