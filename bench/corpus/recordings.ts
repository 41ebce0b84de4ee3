/** Recordings of human speech: tools/harness/recordings. */

import { basename, join } from 'node:path';
import { RECORDINGS_FOLDER } from '../../tools/harness/media/recordings.ts';
import { runPeer } from '../python.ts';
import type { Clip } from './clip.ts';

/** English ends at 29.1 s, German begins at 31.0 s. */
const LANGUAGES_PART_S = 30;

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
  {
    id: 'licence',
    file: 'multilingual.mp3',
    channel: 'mixed',
    startS: 0,
    endS: LANGUAGES_PART_S,
    language: 'en',
    text:
      'Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files ' +
      'to deal in the software without restriction, including without limitation the rights to use, copy, modify, merge, publish, ' +
      'distribute, sublicense, and or sell copies of the software and to permit persons to whom the software is furnished to do so, ' +
      'subject to the following conditions: the above copyright notice and this permission notice shall be included in all copies ' +
      'or substantial portions of the software.',
  },
  {
    id: 'lizenz',
    file: 'multilingual.mp3',
    channel: 'mixed',
    startS: LANGUAGES_PART_S,
    endS: null,
    language: 'de',
    text:
      'Jedem, der diese Software und die dazugehörigen Dokumentationsdateien erhält, wird hiermit unentgeltlich die Genehmigung erteilt, ' +
      'mit der Software uneingeschränkt zu verfahren. Dies umfasst insbesondere das Recht, die Software zu verwenden, zu vervielfältigen, ' +
      'zu modifizieren, zusammenzufügen, zu veröffentlichen, zu verteilen, unterzulizenzieren und oder Kopien der Software zu verkaufen ' +
      'und diese Rechte unter folgenden Bedingungen anderen zu übertragen.',
  },
];

/** Decodes the recordings into `folder`. @returns the files. */
export async function recordings(folder: string): Promise<Clip[]> {
  const requests = RECORDINGS.map(({ id, file, channel, startS, endS }) => ({
    source: join(RECORDINGS_FOLDER, file),
    path: join(folder, `recording-${id}.wav`),
    channel,
    startS,
    endS,
  }));
  const lines = await runPeer<{ path: string; seconds: number }>(
    'decode_audio.py',
    [],
    requests.map((line) => JSON.stringify(line)).join('\n'),
  );
  return RECORDINGS.flatMap(({ id, text, language }, i) => {
    const line = lines[i];
    return line ? [{ id, audio: basename(line.path), seconds: line.seconds, text, language }] : [];
  });
}
