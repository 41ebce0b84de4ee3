import { describe, expect, it } from 'vitest';
import { PlaybackClock } from './playback-clock.ts';

describe('a playback', () => {
  it('begins with the first audio, however late that is', () => {
    const playback = new PlaybackClock();
    expect(playback.aheadMs(500)).toBeUndefined();
    expect(playback.addAudio(200, 1000, 0)).toBe(0);
    expect(playback.aheadMs(1000)).toBe(200);
    expect(playback.aheadMs(1150)).toBe(50);
    expect(playback.aheadMs(1300)).toBe(0);
  });

  it('that runs dry has a gap, and goes on from its end', () => {
    const playback = new PlaybackClock();
    playback.addAudio(200, 1000);
    expect(playback.addAudio(300, 1100, 1000)).toBe(0);
    // All was heard at 1500.
    expect(playback.addAudio(100, 1750, 1100)).toBe(250);
    expect(playback.aheadMs(1750)).toBe(100);
    expect(playback.addAudio(100, 1800, 1750)).toBe(0);
    expect(playback.aheadMs(1800)).toBe(150);
  });

  it('has no gap while nobody asked', () => {
    const playback = new PlaybackClock();
    playback.addAudio(200, 1000);
    // Dry from 1200 on, asked at 1900.
    expect(playback.addAudio(100, 1950, 1900)).toBe(50);
  });

  it('may go on with audio that came before', () => {
    expect(new PlaybackClock(1200).addAudio(100, 1300, 1000)).toBe(100);
    expect(new PlaybackClock(1200).aheadMs(1000)).toBe(200);
  });
});
