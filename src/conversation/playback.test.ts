import { expect, test } from 'vitest';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { MAX_KEPT_MS, Playback } from './playback.ts';

const FORMAT = { encoding: 'pcm16', rateHz: 16_000 } as const;
/** Samples that encode their position in ms. */
const audio = (fromMs: number, toMs: number) =>
  new Uint8Array(
    Int16Array.from({ length: (toMs - fromMs) * 16 }, (_, i) => fromMs + Math.floor(i / 16)).buffer,
  );

function playing() {
  const clock = new ManualClock();
  return { clock, playback: new Playback(clock) };
}

test('audio is played in real time from its arrival', () => {
  const { clock, playback } = playing();
  expect([playback.hasStarted, playback.aheadMs, playback.silentMs]).toEqual([
    false,
    0,
    Number.POSITIVE_INFINITY,
  ]);
  playback.addAudio('a', audio(0, 1000), FORMAT);
  clock.advance(400);
  expect([playback.hasStarted, playback.aheadMs, playback.silentMs]).toEqual([true, 600, 0]);
  clock.advance(1000);
  expect([playback.aheadMs, playback.silentMs]).toEqual([0, 400]);
});

test('the recent audio and text are those that were played', () => {
  const { clock, playback } = playing();
  playback.addWords('a', [{ text: 'One ', startMs: 0, endMs: 300 }]);
  playback.addAudio('a', audio(0, 500), FORMAT);
  playback.addAudio('a', audio(500, 1000), FORMAT);
  playback.addWords('a', [{ text: 'two ', startMs: 600, endMs: 900 }]);
  playback.addWords('b', [{ text: 'three', startMs: 0, endMs: 300 }]);
  playback.addAudio('b', audio(2000, 2500), FORMAT);
  clock.advance(700);
  expect(playback.recentText(1000)).toBe('One two ');
  expect(playback.recentText(300)).toBe('two ');
  expect(playback.recentAudio(300)).toHaveLength(1000 * 16);
  clock.advance(400);
  expect(playback.recentText(1000)).toBe('two three');
  expect(playback.recentAudio(50).at(-1)).toBeCloseTo(2499 / 32_768, 6);
});

test('stopped audio is not played', () => {
  const { clock, playback } = playing();
  playback.addAudio('a', audio(0, 500), FORMAT);
  playback.addAudio('a', audio(500, 1000), FORMAT);
  playback.addWords('a', [
    { text: 'one ', startMs: 0, endMs: 500 },
    { text: 'two', startMs: 500, endMs: 1000 },
  ]);
  clock.advance(200);
  playback.stop();
  expect(playback.aheadMs).toBe(0);
  clock.advance(800);
  expect(playback.recentText(4000)).toBe('one ');
  expect(playback.recentAudio(4000)).toHaveLength(500 * 16);
});

test('keeps a limited duration of audio', () => {
  const { clock, playback } = playing();
  const second = audio(0, 1000);
  for (let i = 0; i < 2 * (MAX_KEPT_MS / 1000); i++) playback.addAudio('a', second, FORMAT);
  clock.advance(MAX_KEPT_MS * 2 - 1);
  expect(playback.recentAudio(1e6).length / 16).toBeLessThanOrEqual(MAX_KEPT_MS);
});
