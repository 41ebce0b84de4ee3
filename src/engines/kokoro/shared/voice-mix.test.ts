import { describe, expect, test } from 'vitest';
import { presetNames, readMix, writeMix } from './voice-mix.ts';

const MIX = { timbre: { af_heart: 0.7, am_adam: 0.3 }, prosody: { bm_lewis: 1 }, pitchScale: 0.9 };
const stored = JSON.parse(writeMix(MIX));

test('a mix round-trips with four decimal places and without zero weights', () => {
  expect(readMix(writeMix(MIX))).toEqual(MIX);
  const fine = { ...MIX, timbre: { af_heart: 0.123_456, am_adam: 0.876_544, bf_emma: 0.000_01 } };
  expect(readMix(writeMix(fine))?.timbre).toEqual({ af_heart: 0.1235, am_adam: 0.8765 });
});

test('a mix of all voices is far below the size limit of an adaptation', () => {
  const all = Object.fromEntries(presetNames().map((name) => [name, -0.123_456]));
  expect(writeMix({ timbre: all, prosody: all, pitchScale: 1.234_567 }).length).toBeLessThan(8_000);
});

describe('readMix rejects', () => {
  const weights = (timbre: unknown) => JSON.stringify({ ...stored, timbre });
  test.each([
    ['an empty text', ''],
    ['invalid JSON', '{'],
    ['another kind', JSON.stringify({ ...stored, kind: 'other' })],
    ['another version', JSON.stringify({ ...stored, version: stored.version + 1 })],
    ['an unknown field', JSON.stringify({ ...stored, more: 1 })],
    ['a mix without voices', weights({})],
    ['an unknown voice', weights({ unknown: 1 })],
    [
      'a name of the object prototype',
      '{"kind":"kokoro-mix","version":1,"timbre":{"__proto__":1},"prosody":{"af_heart":1},"pitchScale":1}',
    ],
    ['a weight that is not a number', weights({ af_heart: '1' })],
    ['a weight out of range', weights({ af_heart: 2.1 })],
    ['a pitch scale out of range', JSON.stringify({ ...stored, pitchScale: 0.4 })],
    ['null', 'null'],
  ])('%s', (_, text) => {
    expect(readMix(text)).toBeUndefined();
  });
});
