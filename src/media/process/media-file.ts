import { type FileHandle, open } from 'node:fs/promises';
import { ADTS, CustomSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from 'mediabunny';

/** Formats that consist of a single file. Playlists are excluded, because they reference other files. */
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

/** An open file and its container parser. */
export interface MediaFile {
  readonly input: Input;
  readonly file: FileHandle;
  /** Closes the file and the parser. */
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

/** Gives the library access to the bytes of an open file, but not to its path. */
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
 * Format of a file according to its content; undefined if it is not supported. For files that are too short
 * to identify, the library throws various errors.
 */
export async function containerOf(input: Input): Promise<string | undefined> {
  try {
    return CONTAINER_NAMES.get(await input.getFormat());
  } catch {
    return undefined;
  }
}
