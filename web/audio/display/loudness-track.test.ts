import { describe, expect, it } from 'vitest';
import { BAR_MS, heightOf, LoudnessTrack } from './loudness-track.ts';

const RATE_HZ = 24_000;
/** Samples per bar. */
const BAR = (RATE_HZ * BAR_MS) / 1000;
const flat = (length: number, sample: number) => new Int16Array(length).fill(sample);

describe('LoudnessTrack', () => {
  it('has the peak of each bar', () => {
    const track = new LoudnessTrack();
    track.add(flat(BAR, 0x4000), RATE_HZ);
    track.add(flat(BAR, -0x2000), RATE_HZ);
    expect(track.bars).toEqual([0.5, 0.25]);
    expect(track.level).toBe(0.25);
    expect(track.lengthMs).toBe(2 * BAR_MS);
  });

  it('is independent of the chunk sizes', () => {
    const samples = Int16Array.from({ length: BAR * 3 }, (_, at) => (at * 37) % 32768);
    const [whole, cut] = [new LoudnessTrack(), new LoudnessTrack()];
    whole.add(samples, RATE_HZ);
    for (let at = 0; at < samples.length; at += 101) cut.add(samples.slice(at, at + 101), RATE_HZ);
    expect(cut.bars).toEqual(whole.bars);
    expect(cut.bars).toHaveLength(3);
  });

  it('retains the newest bars and the marks that overlap them', () => {
    const track = new LoudnessTrack();
    track.startMark(0);
    track.endMark(2 * BAR_MS);
    track.startMark(4 * BAR_MS);
    track.add(flat(BAR * 2003, 1), RATE_HZ);
    expect(track.bars).toHaveLength(2000);
    expect(track.before).toBe(3);
    expect(track.lengthMs).toBe(2003 * BAR_MS);
    expect(track.marks).toEqual([{ startMs: 4 * BAR_MS, endMs: Number.POSITIVE_INFINITY }]);
  });

  it('ends only the open mark', () => {
    const track = new LoudnessTrack();
    track.startMark(100);
    track.startMark(300);
    track.endMark(400);
    track.endMark(500);
    expect(track.marks).toEqual([
      { startMs: 100, endMs: 300 },
      { startMs: 300, endMs: 400 },
    ]);
  });

  it('notifies subscribers until they unsubscribe', () => {
    const track = new LoudnessTrack();
    let notified = 0;
    const end = track.subscribe(() => {
      notified += 1;
    });
    track.add(flat(BAR, 1), RATE_HZ);
    track.startMark(0);
    track.endMark(1);
    track.clear();
    expect(notified).toBe(4);
    expect([track.bars, track.marks, track.lengthMs]).toEqual([[], [], 0]);
    end();
    track.startMark(0);
    expect(notified).toBe(4);
  });
});

describe('heightOf', () => {
  it('is 0 at -60 dB and 1 at full scale', () => {
    expect(heightOf(1)).toBe(1);
    expect(heightOf(0.0316)).toBeCloseTo(0.5, 2);
    expect(heightOf(0.001)).toBeCloseTo(0, 6);
    expect(heightOf(0)).toBe(0);
  });
});
