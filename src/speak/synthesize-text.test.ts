import { describe, expect, it } from 'vitest';
import { FakeTtsEngine } from '../../test/doubles/fake-tts-engine.ts';
import { spokenVoice } from '../../test/media/spoken-voice.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import type { TtsEngine } from '../contract/engines/engine.ts';
import { type SynthesizeTextRequest, synthesizeText } from './synthesize-text.ts';

const never = new AbortController().signal;
const ANNA = spokenVoice();
const REQUEST: SynthesizeTextRequest = {
  text: 'One sentence. And another one! A third?',
  speed: 1,
  priority: 'interactive',
  fairnessKey: 'a',
  delivery: 'stream',
};

async function collect(
  engine: TtsEngine,
  request: SynthesizeTextRequest,
  clock = new ManualClock(),
): Promise<number[]> {
  const samples: number[] = [];
  for await (const run of synthesizeText(engine, request, clock, never)) samples.push(...run);
  return samples;
}

describe('synthesizeText', () => {
  it('synthesizes each sentence once, in order, with the parameters of the request', async () => {
    const engine = new FakeTtsEngine();
    await collect(engine, {
      ...REQUEST,
      speed: 1.5,
      voice: ANNA,
      delivery: 'whole',
      priority: 'batch',
      fairnessKey: 'a',
    });
    expect(engine.requests.map(({ text }) => text.trim())).toEqual([
      'One sentence.',
      'And another one!',
      'A third?',
    ]);
    for (const request of engine.requests) {
      expect(request).toMatchObject({
        speed: 1.5,
        voice: ANNA,
        delivery: 'whole',
        priority: 'batch',
        fairnessKey: 'a',
      });
    }
  });

  it('reports each sentence as it starts, including blank ones', async () => {
    const text = '  One sentence.  And another one!\n\n';
    const engine = new FakeTtsEngine();
    const begun: string[] = [];
    const asked: number[] = [];
    const begins = (sentence: string) => {
      begun.push(sentence);
      asked.push(engine.requests.length);
    };
    for await (const _ of synthesizeText(engine, { ...REQUEST, text }, new ManualClock(), never, begins)) {
      expect(begun).toHaveLength(engine.requests.length);
    }
    expect(begun.join('')).toBe(text);
    expect(asked).toEqual([0, 1]);
    begun.length = 0;
    for await (const _ of synthesizeText(
      engine,
      { ...REQUEST, text: ' \n' },
      new ManualClock(),
      never,
      begins,
    ))
      break;
    expect(begun).toEqual([' \n']);
  });

  it('splits a sentence of more than 400 characters into clauses', async () => {
    const engine = new FakeTtsEngine();
    const clause = 'and so the story went on and on without an end in sight, ';
    await collect(engine, { ...REQUEST, text: `${clause.repeat(12)}until it stopped.` });
    expect(engine.requests.length).toBeGreaterThan(1);
    for (const { text } of engine.requests) expect(text.trim().length).toBeLessThanOrEqual(600);
    expect(engine.requests.map(({ text }) => text).join('')).toBe(`${clause.repeat(12)}until it stopped.`);
  });

  it('yields saturated 16-bit samples', async () => {
    const engine = new FakeTtsEngine({ runs: () => [[0, 0.5, -0.5, 2, -2]] });
    expect(await collect(engine, { ...REQUEST, text: 'One.' })).toEqual([0, 16384, -16384, 32767, -32768]);
  });

  it.each([8000, 22_050, 48_000])(
    'resamples %d Hz to 24 kHz without a discontinuity between sentences',
    async (rateHz) => {
      const tone = (length: number) =>
        Array.from({ length }, (_, n) => 0.5 * Math.sin((2 * Math.PI * 400 * n) / rateHz));
      // Each sentence is a whole number of periods, so together they form one continuous tone.
      const engine = new FakeTtsEngine({ rateHz, runs: () => [tone(rateHz / 2), tone(rateHz / 2)] });
      const samples = await collect(engine, REQUEST);
      expect(samples).toHaveLength(3 * 24_000);
      const middle = samples.slice(1000, -1000);
      const wrong = middle.map((value, n) =>
        Math.abs(value - 16384 * Math.sin((2 * Math.PI * 400 * (n + 1000)) / 24_000)),
      );
      expect(Math.max(...wrong)).toBeLessThan(20);
    },
  );

  it('yields nothing for blank text and does not call the engine', async () => {
    const engine = new FakeTtsEngine();
    expect(await collect(engine, { ...REQUEST, text: ' \n ' })).toEqual([]);
    expect(engine.requests).toEqual([]);
  });

  it('passes the playback lead to the engine', async () => {
    const clock = new ManualClock();
    const engine = new FakeTtsEngine({
      runs: () => [new Array(24_000).fill(0.1)],
      before: () => clock.advance(300),
    });
    await collect(engine, REQUEST, clock);
    // Each sentence has 1 s of audio, is generated in 300 ms and is played from its first chunk on.
    expect(engine.requests.map(({ aheadMs }) => aheadMs)).toEqual([undefined, 1000, 1700]);
  });

  it('stops the engine when the consumer stops', async () => {
    const engine = new FakeTtsEngine({ runs: () => [[0.1], [0.1], [0.1]] });
    for await (const _ of synthesizeText(engine, REQUEST, new ManualClock(), never)) break;
    expect(engine).toMatchObject({ runsMade: 1, leftEarly: 1 });
  });

  it('throws the error of the engine after the audio that preceded it', async () => {
    const failure = new Error('engine');
    const engine = new FakeTtsEngine({
      failure: ({ text }) => (text.startsWith('And') ? failure : undefined),
    });
    const heard: number[] = [];
    const consume = async () => {
      for await (const run of synthesizeText(engine, REQUEST, new ManualClock(), never))
        heard.push(run.length);
    };
    await expect(consume()).rejects.toBe(failure);
    expect(heard).toEqual([2400, 2400]);
  });
});
