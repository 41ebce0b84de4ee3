import { expect, test } from 'vitest';
import { FakeTextEngine } from '../../test/doubles/fake-text-engine.ts';
import { FakeTtsEngine } from '../../test/doubles/fake-tts-engine.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import type { Float32Samples } from '../contract/engines/audio.ts';
import type { TtsEngine } from '../contract/engines/engine.ts';
import type { FastSpeech } from '../contract/engines/fast-speech.ts';
import type { TextEngine, TextEvent } from '../contract/engines/text.ts';
import { SpeechChoice } from './speech-choice.ts';

const FAST = new FakeTtsEngine();

interface Machine {
  /** Time of a second of audio, in ms. */
  readonly secondMs: number;
  readonly fastSpeech?: FastSpeech;
  readonly text?: TextEngine;
}

function choosing({ secondMs, text, fastSpeech = { open: async () => FAST } }: Machine) {
  const clock = new ManualClock();
  const log = new RecordingLogger();
  let syntheses = 0;
  let tokens = 0;
  const tts = {
    rateHz: 24_000,
    async *synthesize() {
      syntheses++;
      for (let second = 0; second < 3; second++) {
        clock.advance(secondMs);
        yield new Float32Array(24_000) as Float32Samples;
      }
    },
  } as unknown as TtsEngine;
  const endless = {
    prepare: async () => undefined,
    async *generate(_: unknown, signal: AbortSignal): AsyncGenerator<TextEvent> {
      for (;;) {
        await Promise.resolve();
        signal.throwIfAborted();
        tokens++;
        yield { kind: 'text', text: 'word ' } as TextEvent;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  } as unknown as TextEngine;
  const choice = new SpeechChoice({ model: 'svc-voice', tts, text: text ?? endless, fastSpeech, clock, log });
  return { choice, log, counts: () => ({ syntheses, hasGenerated: tokens > 0 }) };
}

test('the engine of the model stays if it is fast enough, measured once', async () => {
  const { choice, log, counts } = choosing({ secondMs: 800 });
  await Promise.all([choice.measure(), choice.measure()]);
  expect(choice.fasterEngine).toBeUndefined();
  expect(counts()).toEqual({ syntheses: 1, hasGenerated: true });
  expect(log.lines).toMatchObject([
    { fields: { model: 'svc-voice', speech: 'default', real_time_factor: 0.8 } },
  ]);
});

test('a faster engine is opened if speech would stop while the language model generates', async () => {
  const { choice, log } = choosing({ secondMs: 900 });
  await choice.measure();
  expect(choice.fasterEngine).toBe(FAST);
  expect(log.lines).toMatchObject([{ fields: { speech: 'fast', real_time_factor: 0.9 } }]);
});

test('an engine that cannot be opened is reported, and the model keeps its own', async () => {
  const { choice, log } = choosing({
    secondMs: 2000,
    fastSpeech: { open: () => Promise.reject(new Error('offline')) },
  });
  await choice.measure();
  expect(choice.fasterEngine).toBeUndefined();
  expect(log.lines.map(({ message }) => message)).toEqual(['choice of the speech model failed']);
});

test('an upstream language model is not asked', async () => {
  const text = new FakeTextEngine();
  const { choice } = choosing({ secondMs: 100, text });
  await choice.measure();
  expect(choice.fasterEngine).toBeUndefined();
  expect(text.requests).toEqual([]);
});
