import { expect, test } from 'vitest';
import { FakeTextEngine } from '../../test/doubles/fake-text-engine.ts';
import { FakeTtsEngine } from '../../test/doubles/fake-tts-engine.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import type { Float32Samples } from '../contract/engines/audio.ts';
import type { TtsEngine } from '../contract/engines/engine.ts';
import type { FastSpeech } from '../contract/engines/fast-speech.ts';
import type { TextEngine, TextEvent } from '../contract/engines/text.ts';
import { waitForAbort } from '../kit/async/wait-for-abort.ts';
import { type SessionSpeech, SpeechChoice } from './speech-choice.ts';

const FAST = new FakeTtsEngine();
const NEVER = new AbortController().signal;

interface Machine {
  /** Time of a second of audio, in ms. */
  readonly secondMs: number;
  readonly fastSpeech?: FastSpeech;
  readonly text?: TextEngine;
  /** Stops the measurement. */
  readonly ending?: AbortSignal;
}

function choosing({ secondMs, text, fastSpeech = { open: async () => FAST }, ending = NEVER }: Machine) {
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
  const choice = new SpeechChoice({
    model: 'svc-voice',
    tts,
    text: text ?? endless,
    fastSpeech,
    clock,
    log,
    signal: ending,
  });
  return { choice, log, counts: () => ({ syntheses, hasGenerated: tokens > 0 }) };
}

/** The engines of sessions that open one after another. */
async function openSessions(choice: SpeechChoice, count: number) {
  const sessions = [];
  for (let session = 0; session < count; session++) sessions.push(await choice.choose(NEVER));
  return sessions;
}

const enginesOf = (sessions: readonly SessionSpeech[]) => sessions.map(({ fasterEngine }) => fasterEngine);

test('the engine of the model serves one session if it is fast enough, measured once', async () => {
  const { choice, log, counts } = choosing({ secondMs: 800 });
  const sessions = await Promise.all([choice.choose(NEVER), choice.choose(NEVER)]);
  expect(enginesOf(sessions)).toEqual([undefined, FAST]);
  expect(counts()).toEqual({ syntheses: 1, hasGenerated: true });
  expect(log.lines).toMatchObject([
    {
      fields: { model: 'svc-voice', real_time_factor: 0.8, max_sessions: 1 },
    },
  ]);
});

test('it serves as many sessions as the machine can synthesize in real time', async () => {
  const { choice } = choosing({ secondMs: 190 });
  const sessions = await openSessions(choice, 5);
  expect(enginesOf(sessions)).toEqual([undefined, undefined, undefined, FAST, FAST]);
});

test('a session that ends makes room, once', async () => {
  const { choice } = choosing({ secondMs: 300 });
  const [first, second, third] = await openSessions(choice, 3);
  expect(third?.fasterEngine).toBe(FAST);
  third?.release();
  first?.release();
  first?.release();
  expect(enginesOf(await openSessions(choice, 2))).toEqual([undefined, FAST]);
  second?.release();
  expect(enginesOf(await openSessions(choice, 1))).toEqual([undefined]);
});

test('a faster engine serves all sessions if speech would stop while the language model generates', async () => {
  const { choice, log } = choosing({ secondMs: 900 });
  expect(enginesOf(await openSessions(choice, 1))).toEqual([FAST]);
  expect(log.lines).toMatchObject([{ fields: { real_time_factor: 0.9, max_sessions: 0 } }]);
});

test('an engine that cannot be opened is reported, and the model keeps its own', async () => {
  const { choice, log } = choosing({
    secondMs: 2000,
    fastSpeech: { open: () => Promise.reject(new Error('offline')) },
  });
  const sessions = await openSessions(choice, 1);
  expect(enginesOf(sessions)).toEqual([undefined]);
  sessions[0]?.release();
  expect(log.lines.map(({ message }) => message)).toEqual([
    'speech of conversations',
    'the faster speech model could not be opened',
  ]);
});

test('a measurement that fails is reported, and the model keeps its engine', async () => {
  const failing = { prepare: async () => undefined, generate: () => failure() } as unknown as TextEngine;
  const { choice, log } = choosing({ secondMs: 100, text: failing });
  expect(enginesOf(await openSessions(choice, 2))).toEqual([undefined, undefined]);
  expect(log.lines.map(({ message }) => message)).toEqual(['choice of the speech model failed']);
});

test('an upstream language model is not asked', async () => {
  const text = new FakeTextEngine();
  const { choice } = choosing({ secondMs: 100, text });
  expect(enginesOf(await openSessions(choice, 1))).toEqual([undefined]);
  expect(text.requests).toEqual([]);
});

test('a session that is closed while it waits takes no place, and the measurement continues', async () => {
  const { choice, counts } = choosing({ secondMs: 800 });
  const closing = new AbortController();
  const closed = choice.choose(closing.signal);
  closing.abort(new Error('closed'));
  await expect(closed).rejects.toThrow('closed');
  expect(enginesOf(await openSessions(choice, 2))).toEqual([undefined, FAST]);
  expect(counts().syntheses).toBe(1);
});

test('a session that is closed while the faster engine opens does not wait for it', async () => {
  const { choice } = choosing({ secondMs: 900, fastSpeech: { open: () => new Promise(() => undefined) } });
  const closing = new AbortController();
  const closed = choice.choose(closing.signal);
  closing.abort(new Error('closed'));
  await expect(closed).rejects.toThrow('closed');
});

test.each([
  [190, 1],
  [0, 0],
])(
  'a preparation measures and opens the faster engine that sessions may need: %i ms for 1 s',
  async (secondMs, opened) => {
    let opens = 0;
    const open = async () => {
      opens++;
      return FAST;
    };
    const { choice, counts } = choosing({ secondMs, fastSpeech: { open } });
    await choice.prepare();
    expect([counts().syntheses, opens]).toEqual([1, opened]);
    await openSessions(choice, 1);
    expect([counts().syntheses, opens]).toEqual([1, opened]);
  },
);

test('the measurement stops when the service ends', async () => {
  const ending = new AbortController();
  const speaking = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const text = {
    prepare: async () => undefined,
    async *generate(_: unknown, signal: AbortSignal): AsyncGenerator<TextEvent> {
      speaking.resolve();
      await waitForAbort(signal);
      stopped.resolve();
      signal.throwIfAborted();
      yield { kind: 'text', text: 'never' };
    },
  } as unknown as TextEngine;
  const { choice } = choosing({ secondMs: 100, text, ending: ending.signal });
  const chosen = choice.choose(NEVER);
  await speaking.promise;
  ending.abort(new Error('ending'));
  await stopped.promise;
  await chosen;
});

// biome-ignore lint/correctness/useYield: it fails before its first event.
async function* failure(): AsyncGenerator<TextEvent> {
  throw new Error('no memory');
}
