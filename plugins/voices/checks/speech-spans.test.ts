import { describe, expect, it } from 'vitest';
import { LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import { FakeVadEngine, type FakeVadOptions } from '../../../test/doubles/fake-vad-engine.ts';
import { requireSpeech } from './enough-speech.ts';
import { extractSpeech, speechSpans, totalLength } from './speech-spans.ts';

const never = new AbortController().signal;
const SECONDS = new Float32Array(5.5 * LISTEN_RATE_HZ).map((_, at) => Math.floor(at / LISTEN_RATE_HZ) + 1);
const started = (atS: number) =>
  ({ kind: 'started', onsetSample: atS * LISTEN_RATE_HZ, startSample: atS * LISTEN_RATE_HZ }) as const;
const stopped = (atS: number) => ({ kind: 'stopped', endSample: atS * LISTEN_RATE_HZ }) as const;
const vadOf = (
  events: readonly (ReturnType<typeof started> | ReturnType<typeof stopped>)[],
  more: FakeVadOptions = {},
) => new FakeVadEngine({ script: () => events.map((event) => ({ atSample: 1, event })), ...more });

describe('spans', () => {
  it('are those of the detector, in order and within the clip', async () => {
    const vad = vadOf([started(1), stopped(2), started(4), stopped(6)]);
    const spans = await speechSpans(vad, SECONDS, never);
    expect(spans).toEqual([
      { start: 16_000, end: 32_000 },
      { start: 64_000, end: 88_000 },
    ]);
    expect(totalLength(spans)).toBe(40_000);
    const parts = extractSpeech(SECONDS, spans);
    expect([parts.length, parts[0], parts[15_999], parts[16_000], parts.at(-1)]).toEqual([
      40_000, 2, 2, 5, 6,
    ]);
  });

  it('are detected in writes of one second, and the stream is closed', async () => {
    const vad = vadOf([]);
    expect(await speechSpans(vad, SECONDS, never)).toEqual([]);
    expect(vad.streams[0]?.pieces).toEqual([...new Array(5).fill(16_000), 8000]);
    expect([vad.streams[0]?.maxUnderWay, vad.streams[0]?.isClosed]).toEqual([1, true]);
  });

  it('close the stream when the detector fails and on an abort', async () => {
    const failing = vadOf([], { before: () => Promise.reject(new Error('died')) });
    await expect(speechSpans(failing, SECONDS, never)).rejects.toThrow('died');
    const left = new AbortController();
    const vad = vadOf([], { before: () => left.abort(new Error('left')) });
    await expect(speechSpans(vad, SECONDS, left.signal)).rejects.toThrow('left');
    expect([vad.streams[0]?.pieces.length, vad.streams[0]?.isClosed]).toEqual([1, true]);
  });
});

describe('requireSpeech', () => {
  const spans = (seconds: number) => [{ start: 0, end: seconds * LISTEN_RATE_HZ }];
  it.each([
    [3, 5],
    [3, 6],
    [7.5, 15],
  ])('accepts %d s of %d s', (speechS, durationS) => {
    expect(() => requireSpeech(spans(speechS), durationS)).not.toThrow();
  });
  it.each([
    [0, 5, 'has no speech'],
    [2.9, 5, '2.9 s of speech in 5.0 s'],
    [7.4, 15, '7.4 s of speech in 15.0 s'],
  ])('rejects %d s of %d s', (speechS, durationS, words) => {
    expect(() => requireSpeech(speechS === 0 ? [] : spans(speechS), durationS)).toThrow(words);
  });
});
