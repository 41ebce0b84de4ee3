import { describe, expect, it } from 'vitest';
import { spokenVoice } from '../../../test/media/spoken-voice.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { SynthesisRequest } from '../../contract/engines/engine.ts';
import type { InferencePool } from './inference-pool.ts';
import type { SpeechDescription, SpeechRequest } from './model.ts';
import { poolTtsEngine } from './tts-engine.ts';

const REQUEST: SynthesisRequest = {
  text: 'One.',
  speed: 1.5,
  priority: 'interactive',
  fairnessKey: 'a',
  delivery: 'stream',
};
const never = new AbortController().signal;

/** An engine over a pool that notes what was asked of its one model. */
function opened(description: SpeechDescription) {
  const asked: SpeechRequest[] = [];
  const pool = {
    description: () => description,
    async *runJob(_: string, { request }: { request: SpeechRequest }) {
      asked.push(request);
      yield Float32Array.of(0.5) as Float32Samples;
    },
  } as unknown as InferencePool;
  const engine = poolTtsEngine(pool, 'model', 'af_heart');
  const speak = (fields: Partial<SynthesisRequest> = {}, signal = never) =>
    Array.fromAsync(engine.synthesize({ ...REQUEST, ...fields }, signal));
  return { asked, speak };
}

describe('the voice of a pass', () => {
  it('is the preset of CONFIG when a request names none', async () => {
    const { asked, speak } = opened({ rateHz: 24_000, supportsAdaptations: true });
    expect(await speak()).toHaveLength(1);
    expect(asked).toEqual([
      { text: 'One.', speed: 1.5, delivery: 'stream', voice: { kind: 'preset', name: 'af_heart' } },
    ]);
  });

  it('is the adaptation of a stored voice, and its clip stays here', async () => {
    const { asked, speak } = opened({ rateHz: 24_000, supportsAdaptations: true });
    const clip = () => Promise.reject(new Error('asked for the clip'));
    await speak({ voice: spokenVoice({ id: 'tts-vc-voice_1', adaptation: 'mix', clip }) });
    expect(asked[0]?.voice).toEqual({ kind: 'adaptation', adaptation: 'mix' });
  });

  it('is refused while nothing was made of it yet, as something to try again', async () => {
    const { asked, speak } = opened({ rateHz: 24_000, supportsAdaptations: true });
    const refused = speak({ voice: spokenVoice({ adaptation: undefined }) });
    await expect(refused).rejects.toMatchObject({ kind: 'overloaded', param: 'voice', retryAfterS: 5 });
    expect(asked).toEqual([]);
  });

  it('is refused by a model that has one voice of its own', async () => {
    const { asked, speak } = opened({ rateHz: 22_050, supportsAdaptations: false });
    for (const adaptation of ['mix', undefined]) {
      const refused = speak({ voice: spokenVoice({ adaptation }) });
      await expect(refused).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'voice',
        message: expect.stringContaining('speaks with its own voice only'),
      });
    }
    expect(asked).toEqual([]);
  });
});
