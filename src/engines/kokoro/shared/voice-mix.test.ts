import { describe, expect, test } from 'vitest';
import { presetNames, readMix, writeMix } from './voice-mix.ts';

const MIX = { timbre: { af_heart: 0.7, am_adam: 0.3 }, prosody: { bm_lewis: 1 }, pitchScale: 0.9 };
const stored = JSON.parse(writeMix(MIX));

test('a mix is read as it was written, to four digits, without what is nothing', () => {
  expect(readMix(writeMix(MIX))).toEqual(MIX);
  const fine = { ...MIX, timbre: { af_heart: 0.123_456, am_adam: 0.876_544, bf_emma: 0.000_01 } };
  expect(readMix(writeMix(fine))?.timbre).toEqual({ af_heart: 0.1235, am_adam: 0.8765 });
});

test('a mix of every voice is far below the limit of an adaptation', () => {
  const all = Object.fromEntries(presetNames().map((name) => [name, -0.123_456]));
  expect(writeMix({ timbre: all, prosody: all, pitchScale: 1.234_567 }).length).toBeLessThan(8_000);
});

describe('text that is no mix', () => {
  const weights = (timbre: unknown) => JSON.stringify({ ...stored, timbre });
  test.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['another kind', JSON.stringify({ ...stored, kind: 'other' })],
    ['another version', JSON.stringify({ ...stored, version: stored.version + 1 })],
    ['another field', JSON.stringify({ ...stored, more: 1 })],
    ['no voice', weights({})],
    ['a voice that is not there', weights({ nobody: 1 })],
    [
      'a name that every object has',
      '{"kind":"kokoro-mix","version":1,"timbre":{"__proto__":1},"prosody":{"af_heart":1},"pitchScale":1}',
    ],
    ['a weight that is no number', weights({ af_heart: '1' })],
    ['a weight beyond reason', weights({ af_heart: 2.1 })],
    ['a pitch beyond reason', JSON.stringify({ ...stored, pitchScale: 0.4 })],
    ['null', 'null'],
  ])('is not read: %s', (_, text) => {
    expect(readMix(text)).toBeUndefined();
  });
});
