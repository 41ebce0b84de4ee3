import { expect, test } from 'vitest';
import { FakeTtsEngine } from '../../../../test/doubles/fake-tts-engine.ts';
import type { SynthesisRequest } from '../../../contract/engines/engine.ts';
import { followingTtsEngine } from './following-engine.ts';

const REQUEST: SynthesisRequest = {
  text: 'One.',
  speed: 1,
  voiceName: 'anna',
  priority: 'interactive',
  fairnessKey: 'a',
  delivery: 'stream',
};

test('another id of a server uses its engine, which alone deletes voices', async () => {
  const engine = Object.assign(new FakeTtsEngine({ rateHz: 16_000, voices: ['anna'] }), {
    deleteVoice: async () => undefined,
  });
  const following = followingTtsEngine(engine, 'openai');
  expect(following).toMatchObject({ rateHz: 16_000, compatibility: 'openai' });
  expect([following.hasVoice?.('anna'), following.hasVoice?.('bert')]).toEqual([true, false]);
  expect(following.deleteVoice).toBeUndefined();
  await Array.fromAsync(following.synthesize(REQUEST, new AbortController().signal));
  expect(engine.requests).toEqual([REQUEST]);
  expect(following.ready()).toEqual({ ready: true });
});
