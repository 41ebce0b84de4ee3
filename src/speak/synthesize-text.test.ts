import { describe, expect, it } from 'vitest';
import { lexiconEntry } from '../../test/doubles/fake-lexicons.ts';
import { FakeTtsEngine, type FakeTtsOptions } from '../../test/doubles/fake-tts-engine.ts';
import { spokenVoice } from '../../test/media/spoken-voice.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { float32ToInt16 } from '../audio/codec.ts';
import { Resampler } from '../audio/resampler.ts';
import type { Clock } from '../contract/core/clock.ts';
import type { Float32Samples } from '../contract/engines/audio.ts';
import type { SpokenWord, TtsEngine } from '../contract/engines/engine.ts';
import type { LexiconEntry } from '../contract/stores/lexicon-store.ts';
import { LexiconMatcher } from './lexicon-matcher.ts';
import { type SynthesisOutput, type SynthesizeTextRequest, synthesizeText } from './synthesize-text.ts';

const never = new AbortController().signal;
const ANNA = spokenVoice();
const REQUEST: SynthesizeTextRequest = {
  text: 'One sentence. And another one! A third?',
  speed: 1,
  priority: 'interactive',
  fairnessKey: 'a',
  delivery: 'stream',
  rateHz: 24_000,
};

async function collect(
  engine: TtsEngine,
  request: SynthesizeTextRequest,
  clock = new ManualClock(),
): Promise<number[]> {
  const samples: number[] = [];
  for await (const run of synthesizeText(engine, request, output(clock), never)) samples.push(...run);
  return samples;
}

/** The samples as they are. */
function output(clock: Clock = new ManualClock()): SynthesisOutput<Float32Samples> {
  return { clock, chunksOf: (samples) => [samples] };
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
    const observer = {
      onSentence(sentence: string) {
        begun.push(sentence);
        asked.push(engine.requests.length);
      },
    };
    for await (const _ of synthesizeText(engine, { ...REQUEST, text }, output(), never, observer)) {
      expect(begun).toHaveLength(engine.requests.length);
    }
    expect(begun.join('')).toBe(text);
    expect(asked).toEqual([0, 1]);
    begun.length = 0;
    for await (const _ of synthesizeText(engine, { ...REQUEST, text: ' \n' }, output(), never, observer))
      break;
    expect(begun).toEqual([' \n']);
  });

  describe('the language of each sentence', () => {
    const FRENCH = 'Où se trouve la gare, s’il vous plaît ?';
    const text = `${FRENCH} Merci.\nThank you for waiting.`;
    const voiceLanguage = { tag: 'en-US', isChosen: false };
    const languages = ['en-US', 'fr'];
    const spoken = async (
      request: Partial<SynthesizeTextRequest>,
      options: FakeTtsOptions = { languages, voiceLanguage },
    ) => {
      const engine = new FakeTtsEngine(options);
      await collect(engine, { ...REQUEST, text, ...request });
      return engine.requests.map(({ language, detectedLanguage }) => language ?? detectedLanguage);
    };

    it('is detected by paragraph', async () => {
      expect(await spoken({})).toEqual(['fr', 'fr', undefined]);
    });

    it('of a streamed text is detected as the sentences arrive', async () => {
      const sentences = async function* () {
        yield* ['Merci. ', `${FRENCH} `, 'Menu.\n', 'Thank you for waiting.'];
      };
      expect(await spoken({ text: sentences() })).toEqual([undefined, 'fr', 'fr', undefined]);
    });

    it('of a text with markup is detected, unless the markup names it', async () => {
      const piece = (fields: Partial<SynthesizeTextRequest>) =>
        ({ kind: 'text', text: FRENCH, style: { speed: 1, ...fields }, gain: 1, givenSounds: [] }) as const;
      expect(await spoken({ text: [piece({}), piece({ language: 'en-US' })] })).toEqual(['fr', 'en-US']);
    });

    it('is not detected with a language of the request or of the voice', async () => {
      expect(await spoken({ language: 'en-US' })).toEqual(['en-US', 'en-US', 'en-US']);
      const chosen = { languages, voiceLanguage: { ...voiceLanguage, isChosen: true } };
      expect(await spoken({}, chosen)).toEqual([undefined, undefined, undefined]);
      expect(await spoken({}, { languages })).toEqual([undefined, undefined, undefined]);
    });
  });

  it('splits a sentence of more than 400 characters into clauses', async () => {
    const engine = new FakeTtsEngine();
    const clause = 'and so the story went on and on without an end in sight, ';
    await collect(engine, { ...REQUEST, text: `${clause.repeat(12)}until it stopped.` });
    expect(engine.requests.length).toBeGreaterThan(1);
    for (const { text } of engine.requests) expect(text.trim().length).toBeLessThanOrEqual(600);
    expect(engine.requests.map(({ text }) => text).join('')).toBe(`${clause.repeat(12)}until it stopped.`);
  });

  it.each([
    [8000, 24_000],
    [22_050, 24_000],
    [48_000, 24_000],
    [22_050, 8000],
    [24_000, 44_100],
  ])('resamples %d Hz to %d Hz without a discontinuity between sentences', async (fromHz, rateHz) => {
    const tone = (length: number) =>
      Array.from({ length }, (_, n) => 0.5 * Math.sin((2 * Math.PI * 400 * n) / fromHz));
    // Each sentence is a whole number of periods, so together they form one continuous tone.
    const engine = new FakeTtsEngine({ rateHz: fromHz, runs: () => [tone(fromHz / 2), tone(fromHz / 2)] });
    const samples = await collect(engine, { ...REQUEST, rateHz });
    expect(samples).toHaveLength(3 * rateHz);
    const middle = samples.slice(1000, -1000);
    const wrong = middle.map((value, n) =>
      Math.abs(value - 0.5 * Math.sin((2 * Math.PI * 400 * (n + 1000)) / rateHz)),
    );
    expect(Math.max(...wrong)).toBeLessThan(20 / 32_768);
  });

  it.each([8000, 16_000, 44_100, 48_000])(
    'has the length and the loudness of audio that is converted to 24 kHz and then to %d Hz',
    async (rateHz) => {
      const fromHz = 22_050;
      // Partials of a voice below the Nyquist frequency of the lowest rate, with a decay.
      const voice = Array.from({ length: 30_011 }, (_, n) => {
        const at = n / fromHz;
        const partials = [140, 420, 980, 1960, 2940, 3360].map(
          (hz, k) => Math.sin(2 * Math.PI * hz * at) / (k + 2),
        );
        return 0.5 * Math.exp(-at) * partials.reduce((sum, each) => sum + each, 0);
      });
      const engine = new FakeTtsEngine({
        rateHz: fromHz,
        runs: () => [voice.slice(0, 9001), voice.slice(9001)],
      });
      const once = await collect(engine, { ...REQUEST, text: 'One.', rateHz });
      const toSpeech = new Resampler({ fromHz, toHz: 24_000, format: 'float32' });
      const at24k = [toSpeech.push(Float32Array.from(voice)), toSpeech.flush()].flatMap((part) => [...part]);
      const toRate = new Resampler({ fromHz: 24_000, toHz: rateHz, format: 'int16' });
      const int16 = float32ToInt16(Float32Array.from(at24k));
      const twice = [toRate.push(int16), toRate.flush()].flatMap((part) => [...part]);

      expect(Math.abs(once.length - twice.length)).toBeLessThanOrEqual(1);
      const power = (samples: number[]) =>
        samples.reduce((sum, each) => sum + each * each, 0) / samples.length;
      const levelDb = 10 * Math.log10(power(once) / (power(twice) / 32_768 ** 2));
      expect(Math.abs(levelDb)).toBeLessThan(0.02);
      // Without the abrupt onset and end, where the responses of the filters differ.
      const wrong = once.map((value, n) => Math.abs(value - (twice[n] ?? 0) / 32_768)).slice(500, -500);
      expect(Math.max(...wrong)).toBeLessThan(2 / 32_768);
    },
  );

  it('reports the samples that the engine generated, at its rate', async () => {
    const engine = new FakeTtsEngine({ rateHz: 22_050, runs: () => [[0.1], [0.1, 0.1]] });
    const generated: number[] = [];
    const observer = { onGenerated: (samples: number) => void generated.push(samples) };
    for await (const _ of synthesizeText(engine, { ...REQUEST, rateHz: 8000 }, output(), never, observer));
    expect(generated).toEqual([1, 2, 1, 2, 1, 2]);
  });

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
    for await (const _ of synthesizeText(engine, REQUEST, output(), never)) break;
    expect(engine).toMatchObject({ runsMade: 1, leftEarly: 1 });
  });

  it('throws the error of the engine after the audio that preceded it', async () => {
    const failure = new Error('engine');
    const engine = new FakeTtsEngine({
      failure: ({ text }) => (text.startsWith('And') ? failure : undefined),
    });
    const heard: number[] = [];
    const consume = async () => {
      for await (const run of synthesizeText(engine, REQUEST, output(), never)) heard.push(run.length);
    };
    await expect(consume()).rejects.toBe(failure);
    expect(heard).toEqual([2400, 2400]);
  });
});

describe('the pronunciation lexicon', () => {
  const lexicon = (...own: LexiconEntry[]) => new LexiconMatcher({ own, shared: [] });
  const LONG = 'one very long reading of a word, '.repeat(6).trim();
  /** Reports one word for each text of the engine, or none for a text without letters. */
  const timed = (engine: FakeTtsEngine): TtsEngine =>
    Object.assign(engine, {
      async *synthesize(...[request, signal]: Parameters<TtsEngine['synthesize']>) {
        request.onWords?.([{ text: request.text, startMs: 0, endMs: 50 }]);
        yield* FakeTtsEngine.prototype.synthesize.call(engine, request, signal);
      },
    });

  it('is passed to the engine as text and sounds', async () => {
    const engine = new FakeTtsEngine();
    const entries = [
      lexiconEntry('third', { phonemes: 'tɜd' }),
      lexiconEntry('sentence', { respelling: 'phrase' }),
    ];
    await collect(engine, { ...REQUEST, lexicon: lexicon(...entries) });
    expect(engine.requests.map(({ text }) => text.trim())).toEqual([
      'One phrase.',
      'And another one!',
      'A third?',
    ]);
    expect(engine.requests.map(({ givenSounds }) => givenSounds)).toEqual([
      [],
      undefined,
      [{ start: 2, end: 7, ipa: 'tɜd' }],
    ]);
    expect(engine.requests[0]).not.toHaveProperty('lexicon');
  });

  it('asks the engine for the language of a sentence without one', async () => {
    const asked: unknown[] = [];
    const engine = Object.assign(new FakeTtsEngine(), {
      textLanguage({ text, voiceName }: { text: string; voiceName?: string | undefined }) {
        asked.push([text.trim(), voiceName]);
        return text.includes('third') ? 'fr' : 'en';
      },
    });
    const entries = [
      lexiconEntry('one', { language: 'en', respelling: 'uno' }),
      lexiconEntry('third', { language: 'en', respelling: 'tercero' }),
    ];
    await collect(engine, { ...REQUEST, voiceName: 'nova', lexicon: lexicon(...entries) });
    expect(asked).toEqual([
      ['One sentence.', 'nova'],
      ['And another one!', 'nova'],
      ['A third?', 'nova'],
    ]);
    expect(engine.requests.map(({ text }) => text.trim())).toEqual([
      'uno sentence.',
      'And another uno!',
      'A third?',
    ]);
  });

  it('splits a sentence that becomes too long, and reports its words in the audio of the whole sentence', async () => {
    const engine = timed(new FakeTtsEngine());
    const { requests } = engine as FakeTtsEngine;
    const text = 'x x x x x x, and x x.';
    const words: SpokenWord[] = [];
    const sentences: string[] = [];
    const request = {
      ...REQUEST,
      text,
      lexicon: lexicon(lexiconEntry('x', { respelling: LONG })),
      onWords: (spoken: readonly SpokenWord[]) => words.push(...spoken),
    };
    const observer = { onSentence: (sentence: string) => sentences.push(sentence) };
    for await (const _ of synthesizeText(engine, request, output(), never, observer));
    expect(sentences).toEqual([text]);
    expect(requests.length).toBeGreaterThan(2);
    for (const { text: piece } of requests) expect(piece.trim().length).toBeLessThanOrEqual(600);
    expect(requests.map((each) => each.text).join('')).toBe(text.replaceAll('x', LONG));
    expect(words.map((word) => word.text).join('')).toBe(text);
    expect(words.at(-1)?.endMs).toBe(100 * (requests.length - 1) + 50);
  });

  it('keeps the sounds of markup', async () => {
    const engine = new FakeTtsEngine();
    const piece = {
      kind: 'text',
      text: 'One two.',
      style: { speed: 1 },
      gain: 1,
      givenSounds: [{ start: 0, end: 3, ipa: 'x' }],
    } as const;
    const entries = [lexiconEntry('one', { respelling: 'a' }), lexiconEntry('two', { respelling: 'b' })];
    await collect(engine, { ...REQUEST, text: [piece], lexicon: lexicon(...entries) });
    expect(engine.requests).toMatchObject([
      { text: 'One b.', givenSounds: [{ start: 0, end: 3, ipa: 'x' }] },
    ]);
  });
});
