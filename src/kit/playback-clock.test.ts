import { describe, expect, it } from 'vitest';
import { PlaybackClock } from './playback-clock.ts';

describe('PlaybackClock', () => {
  it('starts with the first audio', () => {
    const playback = new PlaybackClock();
    expect(playback.aheadMs(500)).toBeUndefined();
    expect(playback.addAudio(200, 1000, 0)).toBe(0);
    expect(playback.aheadMs(1000)).toBe(200);
    expect(playback.aheadMs(1150)).toBe(50);
    expect(playback.aheadMs(1300)).toBe(0);
  });

  it('reports an underrun and continues after it', () => {
    const playback = new PlaybackClock();
    playback.addAudio(200, 1000);
    expect(playback.addAudio(300, 1100, 1000)).toBe(0);
    // All audio had been played at 1500.
    expect(playback.addAudio(100, 1750, 1100)).toBe(250);
    expect(playback.aheadMs(1750)).toBe(100);
    expect(playback.addAudio(100, 1800, 1750)).toBe(0);
    expect(playback.aheadMs(1800)).toBe(150);
  });

  it('counts no underrun before the audio was requested', () => {
    const playback = new PlaybackClock();
    playback.addAudio(200, 1000);
    // Empty from 1200 on, requested at 1900.
    expect(playback.addAudio(100, 1950, 1900)).toBe(50);
  });

  it('can continue after earlier audio', () => {
    expect(new PlaybackClock(1200).addAudio(100, 1300, 1000)).toBe(100);
    expect(new PlaybackClock(1200).aheadMs(1000)).toBe(200);
  });
});
