import { join } from 'node:path';

/** Folder of the recordings. */
export const RECORDINGS_FOLDER = join(import.meta.dirname, '../recordings');

export type RecordingName = 'jfk.flac' | 'multilingual.mp3' | 'stereo_diarization.wav';

/** Path of a recording of human speech; tools/harness/recordings/README.md lists them. */
export function recording(name: RecordingName): string {
  return join(RECORDINGS_FOLDER, name);
}
