import { describe, expect, it } from 'vitest';
import { spokenVoice } from '../../../test/media/spoken-voice.ts';
import type { Float32Samples } from '../../contract/engines/audio.ts';
import type { SynthesisRequest } from '../../contract/engines/engine.ts';
import type { InferencePool } from './inference-pool.ts';
import type { SpeechDescription, SpeechRequest } from './model.ts';
import type { NamedVoices } from './named-voices.ts';
import { poolTtsEngine } from './tts-engine.ts';

const REQUEST: SynthesisRequest = {
  text: 'One.',
  speed: 1.5,
  priority: 'interactive',
  fairnessKey: 'a',
  delivery: 'stream',
};
const DESCRIPTION: SpeechDescription = { rateHz: 24_000, supportsAdaptations: true };
const never = new AbortController().signal;

/** An engine over a pool that records the requests to its one model. */
function recordingEngine(description: SpeechDescription, named?: NamedVoices) {
  const requests: SpeechRequest[] = [];
  const pool = {
    description: () => description,
    async *runJob(_: string, { request }: { request: SpeechRequest }) {
      requests.push(request);
      yield Float32Array.of(0.5) as Float32Samples;
    },
  } as unknown as InferencePool;
  const engine = poolTtsEngine(pool, 'model', { kind: 'kokoro', voice: 'af_heart' }, named);
  const speak = async (fields: Partial<SynthesisRequest> = {}, signal = never) =>
    Array.fromAsync(engine.synthesize({ ...REQUEST, ...fields }, signal));
  return { engine, requests, speak };
}

it('ignores the length of the first audio after other audio', async () => {
  const { requests, speak } = recordingEngine({ rateHz: 24_000, supportsAdaptations: true });
  await speak({ firstAudioMs: 600 });
  await speak({ firstAudioMs: 600, aheadMs: 10 });
  expect(requests.map(({ firstAudioMs }) => firstAudioMs)).toEqual([600, undefined]);
});

describe('voice of a synthesis', () => {
  it('is a named voice of the model', async () => {
    const nova = { id: 'nova', name: 'Nova', language: 'en-US', gender: 'female' } as const;
    const { engine, requests, speak } = recordingEngine(DESCRIPTION, {
      list: [nova],
      find: (name) => (name === 'nova' ? { kind: 'preset', name: 'af_nova' } : undefined),
      problemOf: () => 'problem',
    });
    expect(engine.voices).toEqual([nova]);
    expect([engine.hasVoice?.('nova'), engine.hasVoice?.('x')]).toEqual([true, false]);
    expect(engine.voiceProblem?.('x')).toBe('problem');
    await speak({ voiceName: 'nova' });
    expect(requests[0]?.voice).toEqual({ kind: 'preset', name: 'af_nova' });
  });

  it('cannot be named without named voices', () => {
    const { engine } = recordingEngine(DESCRIPTION);
    expect([engine.voices, engine.hasVoice, engine.voiceProblem]).toEqual([undefined, undefined, undefined]);
  });

  it('is the preset of CONFIG when the request has no voice', async () => {
    const { requests, speak } = recordingEngine({ rateHz: 24_000, supportsAdaptations: true });
    expect(await speak()).toHaveLength(1);
    expect(requests).toEqual([
      {
        ...{ text: 'One.', speed: 1.5, delivery: 'stream', words: false },
        voice: { kind: 'preset', name: 'af_heart' },
      },
    ]);
  });

  it('is the adaptation of a stored voice, without reading its clip', async () => {
    const { requests, speak } = recordingEngine({ rateHz: 24_000, supportsAdaptations: true });
    const clip = () => Promise.reject(new Error('the clip was read'));
    await speak({ voice: spokenVoice({ id: 'tts-vc-voice_1', adaptation: 'mix', clip }) });
    expect(requests[0]?.voice).toEqual({ kind: 'adaptation', adaptation: 'mix' });
  });

  it('is rejected as retryable while the stored voice has no adaptation', async () => {
    const { requests, speak } = recordingEngine({ rateHz: 24_000, supportsAdaptations: true });
    const rejected = speak({ voice: spokenVoice({ adaptation: undefined }) });
    await expect(rejected).rejects.toMatchObject({ kind: 'overloaded', param: 'voice', retryAfterS: 5 });
    expect(requests).toEqual([]);
  });

  it('is rejected by a model that does not support stored voices', async () => {
    const { requests, speak } = recordingEngine({ rateHz: 22_050, supportsAdaptations: false });
    for (const adaptation of ['mix', undefined]) {
      const rejected = speak({ voice: spokenVoice({ adaptation }) });
      await expect(rejected).rejects.toMatchObject({
        kind: 'invalid_request',
        param: 'voice',
        message: expect.stringContaining('does not support stored voices'),
      });
    }
    expect(requests).toEqual([]);
  });
});
