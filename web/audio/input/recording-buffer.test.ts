import { describe, expect, it } from 'vitest';
import { readWav } from '../wav.ts';
import { RecordingBuffer } from './recording-buffer.ts';

const RATE_HZ = 1000;
const flat = (length: number, sample: number) => new Int16Array(length).fill(sample);

describe('RecordingBuffer', () => {
  it('contains the recorded samples as a file', async () => {
    const buffer = new RecordingBuffer(RATE_HZ, 10);
    buffer.add(Int16Array.of(1, 2));
    buffer.add(Int16Array.of(3));
    const file = buffer.file('me.wav');
    expect([file.name, file.type]).toEqual(['me.wav', 'audio/wav']);
    expect(readWav(await file.arrayBuffer())).toEqual({ samples: Int16Array.of(1, 2, 3), rateHz: RATE_HZ });
  });

  it('stops at its maximum length', async () => {
    const buffer = new RecordingBuffer(RATE_HZ, 2);
    buffer.add(flat(1500, 5));
    expect([buffer.seconds, buffer.isFull]).toEqual([1.5, false]);
    buffer.add(flat(1500, 6));
    buffer.add(flat(1500, 7));
    expect([buffer.seconds, buffer.isFull]).toEqual([2, true]);
    const { samples } = readWav(await buffer.file('me.wav').arrayBuffer());
    expect([samples.length, samples.at(-1)]).toEqual([2000, 6]);
  });

  it.each([
    ['quiet', 200, 0, 'very quiet'],
    ['clipped', 3000, 40, 'clipped'],
    ['right', 3000, 0, undefined],
  ])('has advice for a recording that is %s', (_name, sample, cut, advice) => {
    const buffer = new RecordingBuffer(RATE_HZ, 10);
    buffer.add(flat(9000, sample));
    buffer.add(flat(cut, -32768));
    if (advice === undefined) expect(buffer.advice()).toBeUndefined();
    else expect(buffer.advice()).toContain(advice);
  });
});
