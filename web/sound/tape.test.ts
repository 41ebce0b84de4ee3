import { describe, expect, it } from 'vitest';
import { Tape } from './tape.ts';
import { readWav } from './wav.ts';

const RATE_HZ = 1000;
const flat = (length: number, sample: number) => new Int16Array(length).fill(sample);

describe('Tape', () => {
  it('contains the recorded samples as a file', async () => {
    const tape = new Tape(RATE_HZ, 10);
    tape.add(Int16Array.of(1, 2));
    tape.add(Int16Array.of(3));
    const file = tape.file('me.wav');
    expect([file.name, file.type]).toEqual(['me.wav', 'audio/wav']);
    expect(readWav(await file.arrayBuffer())).toEqual({ samples: Int16Array.of(1, 2, 3), rateHz: RATE_HZ });
  });

  it('stops at its maximum length', async () => {
    const tape = new Tape(RATE_HZ, 2);
    tape.add(flat(1500, 5));
    expect([tape.seconds, tape.isFull]).toEqual([1.5, false]);
    tape.add(flat(1500, 6));
    tape.add(flat(1500, 7));
    expect([tape.seconds, tape.isFull]).toEqual([2, true]);
    const { samples } = readWav(await tape.file('me.wav').arrayBuffer());
    expect([samples.length, samples.at(-1)]).toEqual([2000, 6]);
  });

  it.each([
    ['quiet', 200, 0, 'very quiet'],
    ['clipped', 3000, 40, 'clipped'],
    ['right', 3000, 0, undefined],
  ])('has advice for a recording that is %s', (_name, sample, cut, advice) => {
    const tape = new Tape(RATE_HZ, 10);
    tape.add(flat(9000, sample));
    tape.add(flat(cut, -32768));
    if (advice === undefined) expect(tape.advice()).toBeUndefined();
    else expect(tape.advice()).toContain(advice);
  });
});
