import { describe, expect, it } from 'vitest';
import { DEFAULT_AUDIO, MAX_START_CHARACTERS, readTextFrame } from './start-message.ts';

const START = { type: 'start', encoding: 'linear16', container: 'raw', sampleRate: 16_000, channels: 2 };
const read = (frame: unknown) => readTextFrame(JSON.stringify(frame));

describe('a start message', () => {
  it('describes the audio format', () => {
    expect(read({ ...START, sampleRate: 8000, channels: 1, language: 'de', more: [1] })).toEqual({
      kind: 'start',
      audio: { rateHz: 8000, channels: 1, language: 'de' },
    });
  });

  it.each([{ type: 'start' }, { type: 'start', sampleRate: null, channels: null, language: 7 }])(
    'with missing fields has the defaults: %j',
    (frame) => expect(read(frame)).toEqual({ kind: 'start', audio: DEFAULT_AUDIO }),
  );

  it.each([8000, 11_025, 22_050, 44_100, 48_000])('supports %i Hz', (sampleRate) => {
    expect(read({ ...START, sampleRate })).toMatchObject({ audio: { rateHz: sampleRate } });
  });

  it.each<[object, RegExp]>([
    [{ encoding: 'mulaw' }, /^'encoding' must be .*linear16/],
    [{ container: 'wav' }, /^'container' must be .*raw/],
    [{ sampleRate: 7999 }, /^'sampleRate' must be .*8000/],
    [{ sampleRate: 48_001 }, /^'sampleRate' must be .*48000/],
    [{ sampleRate: 16_000.5 }, /^'sampleRate' must be/],
    [{ sampleRate: '16000' }, /^'sampleRate' must be/],
    [{ channels: 3 }, /^'channels' must be .*1.*2/],
    [{ channels: 0 }, /^'channels' must be/],
  ])('with %j is invalid, and the message lists the allowed values', (fields, message) => {
    expect(read({ ...START, ...fields })).toEqual({
      kind: 'invalid_start',
      message: expect.stringMatching(message),
    });
  });
});

it('ignores a text that is too long for a start message', () => {
  const start = (more: number) => read({ ...START, more: 'x'.repeat(more) }).kind;
  const minLength = JSON.stringify({ ...START, more: '' }).length;
  expect(start(MAX_START_CHARACTERS - minLength)).toBe('start');
  expect(start(MAX_START_CHARACTERS - minLength + 1)).toBe('other');
});

it.each(['', 'start', '7', 'null', '[]', '{"type":"ping"}', '{"type":["start"]}', '{', '{"TYPE":"start"}'])(
  'ignores other texts: %s',
  (text) => expect(readTextFrame(text)).toEqual({ kind: 'other' }),
);
