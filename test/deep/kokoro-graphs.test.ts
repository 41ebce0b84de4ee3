import { afterAll, beforeAll, expect, test } from 'vitest';
import { openKokoro, type RealKokoro } from '../harness/real-kokoro.ts';
import { loudnessDb } from '../media/audio-checks.ts';

/** The graphs of Kokoro for other providers and processors, imported and run on this machine. */

const TEXT = 'Hello there, how can I help you today?';

let kokoro: RealKokoro;
beforeAll(async () => {
  kokoro = await openKokoro();
});
afterAll(() => kokoro?.close());

test('the float16 graphs for a GPU give the same speech as the graphs for the CPU', async () => {
  // float16 products run on the CPU as well, only slowly: this checks the graphs, not the provider.
  const float16 = await kokoro.speakWith('float16', TEXT);
  const native = await kokoro.speak({ text: TEXT, speed: 1, delivery: 'whole' });
  expect(Math.abs(float16.length - native.length) / native.length).toBeLessThan(0.1);
  expect(Math.abs(loudnessDb(float16) - loudnessDb(native))).toBeLessThan(3);
});

test('uint8 weights, for processors without dot-product instructions, give identical samples', async () => {
  // uint8 weights are exact on every processor; int8 weights saturate on those that get uint8 weights.
  const uint8 = await kokoro.speakWith('uint8', TEXT);
  expect(uint8).toEqual(await kokoro.speak({ text: TEXT, speed: 1, delivery: 'whole' }));
});
