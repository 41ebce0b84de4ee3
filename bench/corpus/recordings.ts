/** Real recordings beside the repository, where a checkout has them: see `../shared/audio`. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runPeer } from '../python.ts';
import type { Clip } from './hearing-corpus.ts';

const FOLDER = join(import.meta.dirname, '../../../shared/audio');

interface Recording {
  readonly id: string;
  readonly file: string;
  readonly channel: 'mixed' | 'left' | 'right';
  readonly startS: number;
  readonly endS: number | null;
  readonly language: string;
  readonly text: string;
}

const RECORDINGS: readonly Recording[] = [
  {
    id: 'jfk',
    file: 'jfk.flac',
    channel: 'mixed',
    startS: 0,
    endS: null,
    language: 'en',
    text: 'And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.',
  },
  {
    id: 'wizard',
    file: 'stereo_diarization.wav',
    channel: 'left',
    startS: 0,
    endS: null,
    language: 'en',
    text: 'He began a confused complaint against the wizard who had vanished behind the curtain on the left.',
  },
  {
    id: 'horizon',
    file: 'stereo_diarization.wav',
    channel: 'right',
    startS: 0,
    endS: null,
    language: 'en',
    text: 'The horizon seems extremely distant.',
  },
];

/** Decodes them into `folder`; none when the folder is not there. */
export async function recordings(folder: string): Promise<Clip[]> {
  if (!existsSync(FOLDER)) return [];
  const wanted = RECORDINGS.map(({ id, file, channel, startS, endS }) => ({
    source: join(FOLDER, file),
    path: join(folder, `recording-${id}.wav`),
    channel,
    startS,
    endS,
  }));
  const lines = await runPeer<{ path: string; seconds: number }>(
    'decode_audio.py',
    [],
    wanted.map((line) => JSON.stringify(line)).join('\n'),
  );
  return RECORDINGS.flatMap(({ id, text, language }, i) => {
    const line = lines[i];
    return line ? [{ id, audio: line.path, seconds: line.seconds, text, language }] : [];
  });
}
