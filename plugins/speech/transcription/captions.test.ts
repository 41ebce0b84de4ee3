import { expect, it } from 'vitest';
import type { TranscriptSegment } from '../../../src/contract/engines/engine.ts';
import { srtText, vttText } from './captions.ts';

const segment = (startS: number, endS: number, text: string): TranscriptSegment => ({
  startS,
  endS,
  text,
  tokens: [],
  temperature: 0,
  averageLogProbability: -0.2,
  compressionRatio: 1,
  noSpeechProbability: 0,
});

it('numbers cues and separates them with a blank line', () => {
  const segments = [segment(0, 4, ' Ask not'), segment(4, 3723.4567, 'what your country can do.')];
  expect(srtText(segments)).toBe(
    '1\n00:00:00,000 --> 00:00:04,000\nAsk not\n\n2\n00:00:04,000 --> 01:02:03,457\nwhat your country can do.\n\n',
  );
  expect(vttText(segments)).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:04.000\nAsk not\n\n00:00:04.000 --> 01:02:03.457\nwhat your country can do.\n\n',
  );
});

it('has no cues without text', () => {
  expect(srtText([])).toBe('');
  expect(vttText([segment(0, 1, ' \n ')])).toBe('WEBVTT\n\n');
});

it.each([
  [0.9996, '00:00:01,000'],
  [59.9999, '00:01:00,000'],
  [3599.9996, '01:00:00,000'],
  [360_000, '100:00:00,000'],
  [-1, '00:00:00,000'],
])('formats %d s as %s', (endS, text) => {
  expect(srtText([segment(0, endS, 'x')])).toContain(`--> ${text}\n`);
});

it('wraps long text into lines of about equal length', () => {
  const text =
    'And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.';
  const lines = srtText([segment(0, 9, text)])
    .trimEnd()
    .split('\n')
    .slice(2);
  expect(lines).toEqual([
    'And so, my fellow Americans, ask not',
    'what your country can do for you, ask',
    'what you can do for your country.',
  ]);
});

it('puts a very long word on its own line', () => {
  const word = 'x'.repeat(60);
  const lines = srtText([segment(0, 9, `a ${word} b`)])
    .trimEnd()
    .split('\n')
    .slice(2);
  expect(lines).toEqual(['a', word, 'b']);
});

it('escapes text that would break the format', () => {
  const text = 'a\n\n2\n00:00:00.000 --> 00:00:09.000\n<b>R&D</b>';
  expect(srtText([segment(0, 1, text)]).split('\n\n')).toHaveLength(2);
  expect(vttText([segment(0, 1, text)])).toContain('a 2 00:00:00.000 --&gt;\n');
  expect(vttText([segment(0, 1, '<b>R&D</b>')])).toContain('&lt;b&gt;R&amp;D&lt;/b&gt;');
});
