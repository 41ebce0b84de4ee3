import { afterAll, beforeAll, expect, test } from 'vitest';
import { openKokoro, type RealKokoro } from '../harness/real-kokoro.ts';
import { loudnessDb } from '../media/audio-checks.ts';

/** Kokoro graphs for other execution providers and processors, run on the CPU of this machine. */

const TEXT = 'Hello there, how can I help you today?';

let kokoro: RealKokoro;
beforeAll(async () => {
  kokoro = await openKokoro();
});
afterAll(() => kokoro?.close());

test('float16 graphs (GPU) give speech of the same length and loudness as the CPU graphs', async () => {
  // float16 graphs also run on the CPU, slowly. This checks the graphs, not the provider.
  const float16 = await kokoro.speakWith('float16', TEXT);
  const native = await kokoro.speak({ text: TEXT, speed: 1, delivery: 'whole' });
  expect(Math.abs(float16.length - native.length) / native.length).toBeLessThan(0.1);
  expect(Math.abs(loudnessDb(float16) - loudnessDb(native))).toBeLessThan(3);
});

test('uint8 weights (CPUs without dot-product instructions) give identical samples', async () => {
  // uint8 weights are exact on every processor; int8 weights saturate on processors without dot-product instructions.
  const uint8 = await kokoro.speakWith('uint8', TEXT);
  expect(uint8).toEqual(await kokoro.speak({ text: TEXT, speed: 1, delivery: 'whole' }));
});
