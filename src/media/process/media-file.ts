import { open } from 'node:fs/promises';
import { ADTS, CustomSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from 'mediabunny';
import { type ByteSource, fileBytes } from './byte-source.ts';

/**
 * Formats that the library parses and that consist of a single file. Playlists are excluded, because they
 * reference other files.
 */
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
  /** Closes the file and the parser. */
  close(): Promise<void>;
}

/** @throws the system's error when the path cannot be opened. */
export async function openMediaFile(path: string): Promise<MediaFile> {
  const file = await open(path, 'r');
  const input = mediaInput(await fileBytes(file));
  return {
    input,
    close: async () => {
      input.dispose();
      await file.close();
    },
  };
}

/** The container parser for the bytes of a file. */
export function mediaInput(bytes: ByteSource): Input {
  const source = new CustomSource({
    getSize: () => bytes.size,
    read: (start, end) => bytes.read(start, end - start),
    maxCacheSize: CACHE_BYTES,
    prefetchProfile: 'fileSystem',
  });
  return new Input({ formats: FORMATS, source });
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
