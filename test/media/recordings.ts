import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../fixtures/recordings');

export type RecordingName = 'jfk.flac' | 'multilingual.mp3' | 'stereo_diarization.wav';

/** Path of a recording of human speech; test/fixtures/recordings/README.md lists them. */
export function recording(name: RecordingName): string {
  return join(FOLDER, name);
}
