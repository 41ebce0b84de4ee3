import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Logits,
  loops,
  type Script,
  ScriptedGraphs,
  type ScriptedOptions,
  SURE,
  says,
  texts,
  tokenOf,
  UNSURE,
  WORDS,
  wordTokenizer,
} from '../../../../test/doubles/scripted-whisper.ts';
import { repetitions } from '../../../../test/harness/tier.ts';
import type { TextToken } from '../../../contract/engines/engine.ts';
import { seededRandom } from '../../../kit/math/seeded-random.ts';
import { maxSpeechTokens } from '../shared/loop-guard.ts';
import type { WhisperRequest, WindowTranscript } from '../shared/protocol.ts';
import { WindowDecoder } from './window-decoder.ts';

const RATE_HZ = 16_000;
const { special, languages } = wordTokenizer;
const language = (code: string) => languages.get(code) ?? -1;

/** Audio that is not silent. Its text is defined by the script. */
function noise(lengthS: number): Float32Array<ArrayBuffer> {
  const random = seededRandom(1);
  return Float32Array.from({ length: lengthS * RATE_HZ }, () => 0.2 * (random() - 0.5));
}
const TWO_SECONDS = noise(2);
const FULL = noise(30);

const REQUEST: WhisperRequest = {
  samples: TWO_SECONDS,
  task: 'transcribe',
  timestamps: 'none',
  language: 'en',
  likelyLanguage: undefined,
  previous: [],
  lastSpeechS: 0,
};

interface Decoded {
  readonly text: string;
  readonly deltas: readonly string[];
  /** Tokens of each delta. */
  readonly tokens: readonly (readonly TextToken[] | undefined)[];
  readonly window: WindowTranscript;
  readonly graphs: ScriptedGraphs;
  /** Decoder steps of each inference step. */
  readonly tokensPerStep: readonly number[];
}

interface Options extends ScriptedOptions {
  readonly speech?: boolean;
}

async function decoded(
  script: Script,
  fields: Partial<WhisperRequest> = {},
  { speech = true, ...options }: Options = {},
): Promise<Decoded> {
  const graphs = new ScriptedGraphs(script, options);
  const gate = { speechStartS: async () => (speech ? 0 : undefined) };
  const decoder = new WindowDecoder({ graphs, tokenizer: wordTokenizer, gate });
  const deltas: string[] = [];
  const tokens: (readonly TextToken[] | undefined)[] = [];
  const tokensPerStep: number[] = [];
  let window: WindowTranscript | undefined;
  let before = 0;
  for await (const result of decoder.decode({ ...REQUEST, ...fields })) {
    expect(window).toBeUndefined();
    tokensPerStep.push(graphs.steps - before);
    before = graphs.steps;
    if (result?.kind === 'text') {
      deltas.push(result.text);
      tokens.push(result.tokens);
    } else if (result) window = result;
  }
  if (window === undefined) throw new Error('the window is missing');
  return { text: deltas.join(''), deltas, tokens, window, graphs, tokensPerStep };
}

/** Returns this number of different words. */
const manyWords = (count: number) =>
  Array.from({ length: count }, (_, i) => WORDS[(i * 7 + Math.floor(i / 26) * 3) % 26]).join(' ');

describe('a window', () => {
  test('is emitted in deltas of whole words, at most eight tokens apart', async () => {
    const words = manyWords(40);
    const { text, deltas, window, graphs, tokensPerStep } = await decoded(says(words), {}, {});
    expect(text).toBe(words);
    expect(deltas.length).toBeGreaterThan(3);
    for (const delta of deltas.slice(1)) expect(delta).toMatch(/^ /);
    expect(window).toMatchObject({
      language: 'en',
      outputTokens: 40,
      promptTokens: 0,
      segments: [],
      words: [],
    });
    expect(window.carryOver).toEqual(words.split(' ').map(tokenOf));
    expect(graphs.attempts).toHaveLength(1);
    // The first inference step after the encoder also detects the language and processes the prompt.
    expect(Math.max(...tokensPerStep)).toBeLessThanOrEqual(10);
    expect(tokensPerStep[0]).toBe(0);
  });

  test('is encoded with half a second of silence', async () => {
    expect((await decoded(says('a'))).graphs.encoded).toEqual([260]);
    expect((await decoded(says('a'), { samples: FULL })).graphs.encoded).toEqual([3_000]);
    expect((await decoded(says('a'), {}, { shortWindows: false })).graphs.encoded).toEqual([3_000]);
  });

  test('without speech has an empty transcript and runs no graph', async () => {
    const nothing = { language: 'en', carryOver: [], outputTokens: 0, segments: [], words: [] };
    const silent = await decoded(says('a b c'), {}, { speech: false });
    const undetected = await decoded(says('a b c'), { language: undefined }, { speech: false });
    expect(silent.window).toMatchObject(nothing);
    expect(undetected.window.language).toBeUndefined();
    for (const { text, graphs } of [silent, undetected]) {
      expect([text, graphs.encoded, graphs.steps]).toEqual(['', [], 0]);
    }
  });

  test('that the model reports as silence is empty, unless the text is likely', async () => {
    const start = { [special.noSpeech]: SURE };
    const doubted = await decoded(texts({ words: 'a b c', logit: UNSURE }), {}, { start });
    expect(doubted).toMatchObject({ text: '', deltas: [], window: { outputTokens: 0, carryOver: [] } });
    expect(doubted.graphs.attempts).toHaveLength(1);
    const sure = await decoded(says(manyWords(20)), {}, { start });
    expect(sure.deltas).toEqual([manyWords(20)]);
  });

  test('of silence is empty when the first attempt loops', async () => {
    const script: Script = (said, attempt) =>
      attempt === 0 ? loops('a b')(said, 0) : texts({ words: 'c d', logit: UNSURE })(said, 0);
    const { text, window } = await decoded(script, {}, { start: { [special.noSpeech]: SURE } });
    expect([text, window.outputTokens]).toEqual(['', 0]);
  });

  test('with repetitive speech is not silence when an attempt with a higher temperature is unlikely', async () => {
    const script: Script = (said, attempt) =>
      attempt < 3 ? loops('a b')(said, 0) : texts({ words: 'c d', logit: UNSURE })(said, 0);
    const { text, graphs } = await decoded(script, {}, { start: { [special.noSpeech]: SURE } });
    expect(graphs.attempts).toHaveLength(4);
    expect(text).toMatch(/^a b/);
  });
});

describe('prompt of the decoder', () => {
  const prompts = async (...args: Parameters<typeof decoded>) =>
    (await decoded(...args)).graphs.attempts.map(({ prompt }) => prompt);
  const head = [special.startOfTranscript, language('en'), special.transcribe, special.noTimestamps];

  test('contains the language, the task, and whether timestamps are requested', async () => {
    expect(await prompts(says('a'))).toEqual([head]);
    expect(await prompts(says('a'), { language: 'zh', task: 'translate' })).toEqual([
      [special.startOfTranscript, language('zh'), special.translate, special.noTimestamps],
    ]);
    expect(await prompts(says('<0.00> a <1.00>'), { timestamps: 'segment' })).toEqual([head.slice(0, 3)]);
  });

  test("contains the end of the caller's prompt", async () => {
    const words = manyWords(300);
    const { graphs, window } = await decoded(says('a'), { prompt: `  ${words} ` });
    const tokens = words.split(' ').map(tokenOf);
    expect(graphs.attempts[0]?.prompt).toEqual([special.startOfPrevious, ...tokens.slice(-223), ...head]);
    expect(window.promptTokens).toBe(223);
  });

  test("contains the text of the previous window instead of the caller's prompt", async () => {
    const previous = manyWords(200).split(' ').map(tokenOf);
    const { graphs } = await decoded(says('a'), { prompt: 'x y', previous });
    expect(graphs.attempts[0]?.prompt).toEqual([special.startOfPrevious, ...previous.slice(-32), ...head]);
  });
});

describe('keywords', () => {
  const head = [special.startOfTranscript, language('en'), special.transcribe, special.noTimestamps];
  const contextOf = async (fields: Partial<WhisperRequest>) => {
    const { graphs, window } = await decoded(says('a'), fields);
    const [first] = graphs.attempts;
    expect(first?.prompt.slice(-head.length)).toEqual(head);
    return { context: first?.prompt.slice(1, -head.length), promptTokens: window.promptTokens };
  };

  test('are a list before the prompt', async () => {
    const keywords = wordTokenizer.encode(' x, y z.');
    expect(await contextOf({ keywords: ['x', 'y z'], prompt: 'a b' })).toEqual({
      context: [...keywords, tokenOf('a'), tokenOf('b')],
      promptTokens: keywords.length + 2,
    });
    expect(await contextOf({ keywords: [], prompt: 'a' })).toMatchObject({ context: [tokenOf('a')] });
  });

  test('are repeated before the text of each previous window', async () => {
    const { context } = await contextOf({ keywords: ['x'], prompt: 'a b', previous: [tokenOf('p')] });
    expect(context).toEqual([...wordTokenizer.encode(' x.'), tokenOf('p')]);
  });

  test('leave space for the end of the preceding text', async () => {
    const { context, promptTokens } = await contextOf({
      keywords: [manyWords(300)],
      prompt: `${manyWords(100)} q`,
    });
    expect(context).toHaveLength(223);
    expect(context?.slice(0, 191)).toEqual(wordTokenizer.encode(` ${manyWords(300)}`).slice(0, 191));
    expect(context?.at(-1)).toBe(tokenOf('q'));
    expect(promptTokens).toBe(191 + 101);
  });
});

describe('tokens', () => {
  const textOf = (tokens: readonly TextToken[] | undefined) =>
    Buffer.from((tokens ?? []).flatMap(({ bytes }) => [...bytes])).toString();

  test('are those of each delta, with the probability that the decoder gave them', async () => {
    const words = manyWords(20);
    const { deltas, tokens, window } = await decoded(says(words), { textTokens: true, timestamps: 'none' });
    expect(deltas.length).toBeGreaterThan(1);
    expect(tokens.map(textOf)).toEqual(deltas);
    expect(tokens.flat()).toHaveLength(20);
    expect(window.outputTokens).toBe(20);
    const sure = -Math.log(1 + (special.endOfText - 1) * Math.exp(-SURE));
    for (const token of tokens.flat()) expect(token?.logProbability).toBeCloseTo(sure, 2);
  });

  test('have a mean close to the average of their segment', async () => {
    const script = says('<0.00> a b c <2.00>');
    const { tokens, window } = await decoded(script, { textTokens: true, timestamps: 'segment' });
    const values = tokens.flat().map((token) => token?.logProbability ?? Number.NaN);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean).toBeCloseTo(window.segments[0]?.averageLogProbability ?? Number.NaN, 1);
  });

  test('of a later attempt include the emitted ones with their first probability', async () => {
    const script = texts(
      { words: `${manyWords(12)} ${'z '.repeat(60)}` },
      { words: `${manyWords(12)} q`, logit: 12 },
    );
    const { text, tokens, graphs } = await decoded(script, { textTokens: true });
    expect(graphs.attempts.length).toBeGreaterThan(1);
    expect(text).toBe(`${manyWords(12)} q`);
    expect(textOf(tokens.flatMap((each) => each ?? []))).toBe(text);
    const values = tokens.flat().map((token) => token?.logProbability ?? Number.NaN);
    expect(values[0]).toBeGreaterThan(-0.001);
    expect(values.at(-1)).toBeLessThan(-0.001);
  });

  test('are not reported unless they are requested', async () => {
    expect((await decoded(says('a b'))).tokens).toEqual([undefined]);
  });

  test('of a window without speech are none', async () => {
    const { tokens, deltas } = await decoded(says('a'), { textTokens: true }, { speech: false });
    expect([tokens, deltas]).toEqual([[], []]);
  });
});

describe('language', () => {
  const chinese = (logit: number) => ({ start: { [language('zh')]: logit } });
  const undetected = { language: undefined } as const;

  test('is the most likely one when the request has none', async () => {
    const { window, graphs } = await decoded(says('a b'), undetected, chinese(1));
    expect(window.language).toBe('zh');
    expect(graphs.attempts[0]?.prompt[1]).toBe(language('zh'));
  });

  test('has an ISO 639 code', async () => {
    const start = { [language('jv')]: 1 };
    expect((await decoded(says('a'), undetected, { start })).window.language).toBe('jv');
  });

  test('is one of the languages of the request', async () => {
    const start = { [language('zh')]: 3, [language('jv')]: 2 };
    const among = async (...languages: string[]) =>
      (await decoded(says('a'), { ...undetected, languages }, { start })).window.language;
    expect(await among('en', 'jv')).toBe('jv');
    expect(await among('jv', 'zh')).toBe('zh');
    expect(await among('en')).toBe('en');
    // Of the two, it is confident, although it is not among all languages.
    const later = { ...undetected, likelyLanguage: 'en', languages: ['en', 'jv'] };
    expect((await decoded(says('a'), later, { start })).window.language).toBe('jv');
  });

  test('of the request takes precedence over the detected one', async () => {
    expect((await decoded(says('a'), {}, chinese(SURE))).window.language).toBe('en');
  });

  test('stays that of the previous window unless the detection is confident', async () => {
    const later = { ...undetected, likelyLanguage: 'en', previous: [tokenOf('x')] };
    const doubt = await decoded(says('a'), later, chinese(1));
    expect(doubt.window.language).toBe('en');
    expect(doubt.graphs.attempts[0]?.prompt[0]).toBe(special.startOfPrevious);
    const change = await decoded(says('a'), later, chinese(SURE));
    expect(change.window.language).toBe('zh');
    // Text in another language is not used as context.
    expect(change.graphs.attempts[0]?.prompt[0]).toBe(special.startOfTranscript);
  });
});

describe('a failed attempt', () => {
  const TIMES = { timestamps: 'segment' } as const;

  test('is followed by a careful one, then by attempts with a higher temperature', async () => {
    const doubt = { words: '<0.00> a b c <1.00>', logit: UNSURE };
    const words = '<0.00> d e f <1.00>';
    const previous = [tokenOf('x')];
    for (const [failures, temperature] of [0, 0, 0.4, 0.8].entries()) {
      const script = texts(...new Array(failures).fill(doubt), { words });
      const { text, window, graphs, tokensPerStep } = await decoded(script, { ...TIMES, previous });
      expect(text).toBe('d e f');
      // Each attempt starts with a new inference step, so that other jobs can run before it.
      expect(Math.max(...tokensPerStep)).toBeLessThanOrEqual(10);
      expect(window.segments.map((segment) => segment.temperature)).toEqual([temperature]);
      expect(graphs.attempts.map(({ frames }) => frames)).toEqual(
        [260, 3_000, 3_000, 3_000].slice(0, failures + 1),
      );
      for (const [i, { prompt }] of graphs.attempts.entries())
        expect(prompt.includes(tokenOf('x'))).toBe(i === 0);
      // A window is encoded once per length.
      expect(graphs.encoded).toHaveLength(Math.min(2, failures + 1));
      // Text sampled at a high temperature is not used as context.
      expect(window.carryOver.length > 0).toBe(temperature < 0.5);
    }
  });

  test('is not repeated when the careful attempt would be identical', async () => {
    const doubt = texts({ words: '<0.00> a b c <1.00>', logit: UNSURE });
    const alone = await decoded(doubt, { ...TIMES, samples: FULL });
    expect(alone.graphs.attempts).toHaveLength(3);
    const continued = await decoded(doubt, { ...TIMES, samples: FULL, previous: [tokenOf('x')] });
    expect(continued.graphs.attempts).toHaveLength(4);
    for (const { graphs } of [alone, continued]) expect(graphs.encoded).toEqual([3_000]);
  });

  test('is replaced by the most likely one when all fail, which is not used as context', async () => {
    const script = texts(
      { words: 'a a b', logit: 2 },
      { words: 'c d e', logit: 4 },
      { words: 'f g', logit: 1 },
    );
    const { text, window } = await decoded(script);
    expect(text).toBe('c d e');
    expect(window.carryOver).toEqual([]);
  });

  test('with a temperature of the request is repeated with the same temperature', async () => {
    const { graphs, window } = await decoded(texts({ words: 'a', logit: UNSURE }), {
      temperature: 0.3,
      ...TIMES,
    });
    expect(graphs.attempts.map(({ frames }) => frames)).toEqual([260, 3_000]);
    expect(window.segments[0]?.temperature ?? 0.3).toBe(0.3);
  });

  test('does not leave a loop in the text', async () => {
    for (const words of ['a', 'a b', 'a b c d e f g h i']) {
      const { text, window } = await decoded(loops(words, 'x y z'), { samples: FULL });
      const repeated = new RegExp(`(${words} ?){4}`);
      expect(text).toMatch(/^x y z a/);
      expect(text).not.toMatch(repeated);
      expect(window.carryOver).toEqual([]);
    }
  });

  test('is truncated after the first repetition of a loop, wherever the loop is detected', async () => {
    for (const words of ['a', 'a b', 'a b c d e f g h i', manyWords(17)]) {
      expect((await decoded(loops(words, 'x y z'))).text).toBe(`x y z ${words}`);
    }
  });

  test('buffers repeated text until it is known whether it is a loop', async () => {
    const sentence = 'a b c d e f g h';
    const script: Script = (said, attempt) =>
      attempt === 0 ? loops(sentence)(said, 0) : says(`${sentence} i j k`)(said, 0);
    const { text, graphs } = await decoded(script, { samples: FULL });
    expect(text).toBe(`${sentence} i j k`);
    expect(graphs.attempts[1]?.begun).toEqual(sentence.split(' ').map(tokenOf));
  });

  test('is truncated with the timestamps of the loop', async () => {
    // More repetitions than fit into a window.
    const at = (i: number) => `<${(0.8 * i).toFixed(2)}>`;
    const sentences = Array.from({ length: 36 }, (_, i) => `${at(i)} a b c d e ${at(i + 1)}`).join(' ');
    const { text, window } = await decoded(says(sentences), { samples: FULL, ...TIMES });
    expect(text).toBe('a b c d e');
    expect(window.segments).toMatchObject([{ text, startS: 0, endS: 0.8 }]);
  });

  test('keeps repeated text whose length is plausible for the audio', async () => {
    const sentences = Array.from({ length: 5 }, (_, i) => `<${i}.00> a b c d e <${i + 1}.00>`).join(' ');
    const { text } = await decoded(says(sentences), { samples: FULL, ...TIMES });
    expect(text).toBe(Array(5).fill('a b c d e').join(' '));
  });

  test('never retracts emitted text of a loop', async () => {
    const before = 'l m n o p q r s t u v w';
    const { text, window } = await decoded(loops('a', `<0.00> ${before}`), { samples: noise(0.5), ...TIMES });
    expect(text).toBe(`${before} a a a`);
    expect(window.segments).toMatchObject([{ text }]);
  });

  test('ends at the maximum number of tokens for the duration', async () => {
    const random = seededRandom(5);
    const script: Script = () => ({ [tokenOf(WORDS[Math.floor(random() * 26)] ?? 'a')]: SURE });
    const { window, graphs } = await decoded(script);
    expect(window.outputTokens).toBe(maxSpeechTokens(2));
    expect(graphs.attempts.length).toBeGreaterThan(1);
  });

  test('ends at the maximum number of positions of the model', async () => {
    const random = seededRandom(6);
    const script: Script = () => ({ [tokenOf(WORDS[Math.floor(random() * 26)] ?? 'a')]: SURE });
    const fields = { samples: FULL, prompt: manyWords(300) };
    const { window } = await decoded(script, fields, { textPositions: 120 });
    expect(window.outputTokens).toBeLessThanOrEqual(59);
  });
});

test('reports the end of a text that ends before the speech', async () => {
  const transcribedS = async (words: string, fields: Partial<WhisperRequest> = {}, silentFromS = 9) => {
    const graphs = new ScriptedGraphs(says(words));
    const gate = {
      speechStartS: async (samples: Float32Array) =>
        samples.length > (4 - silentFromS) * RATE_HZ ? 0 : undefined,
    };
    const decoder = new WindowDecoder({ graphs, tokenizer: wordTokenizer, gate });
    const request: WhisperRequest = { ...REQUEST, samples: noise(4), timestamps: 'segment', ...fields };
    const last = (await Array.fromAsync(decoder.decode(request))).at(-1);
    return last?.kind === 'window' ? last.transcribedS : Number.NaN;
  };
  expect(await transcribedS('<0.00> a b <1.00>')).toBe(1);
  expect(await transcribedS('<0.00> a b <1.00> <1.20> c <2.50>')).toBe(2.5);
  // Too early; no speech follows; the rest is the end of the last word; the text has no timestamp.
  expect(await transcribedS('<0.00> a b <0.98>')).toBeUndefined();
  expect(await transcribedS('<0.00> a b <2.00>', {}, 1)).toBeUndefined();
  expect(await transcribedS('<0.00> a b <3.20>')).toBeUndefined();
  expect(await transcribedS('<0.00> a b')).toBeUndefined();
  expect(await transcribedS('a b', { timestamps: 'none' })).toBeUndefined();
});

describe('timestamps', () => {
  const segmentsOf = async (words: string, fields: Partial<WhisperRequest> = {}) =>
    (await decoded(says(words), { timestamps: 'segment', ...fields })).window.segments;

  test('of segments are those of the decoder', async () => {
    expect(await segmentsOf('<0.10> a b <0.90> <1.00> c <1.80>')).toMatchObject([
      { startS: 0.1, endS: 0.9, text: 'a b', tokens: [tokenOf('a'), tokenOf('b')], temperature: 0 },
      { startS: 1, endS: 1.8, text: 'c', noSpeechProbability: expect.any(Number) },
    ]);
  });

  test('do not exceed the audio', async () => {
    const segments = await segmentsOf('<0.00> a b c', { samples: noise(1.234) });
    expect(segments).toMatchObject([{ startS: 0, endS: 1.234, text: 'a b c' }]);
  });

  test.each([0.3, 1, 1.99])('are within %d s of audio regardless of the decoder', async (lengthS) => {
    const script: Script = (said) => ({
      [tokenOf('<0.80>')]: said.length === 0 ? SURE : 0,
      [tokenOf('<29.00>')]: 2 * SURE,
      [tokenOf(WORDS[said.length % 26] ?? 'a')]: 5,
      [special.endOfText]: said.length > 5 ? SURE : 0,
    });
    const { window } = await decoded(script, { samples: noise(lengthS), timestamps: 'segment' });
    expect(window.segments.length).toBeGreaterThan(0);
    for (const { startS, endS } of window.segments) {
      expect(startS).toBeLessThanOrEqual(endS);
      expect(endS).toBeLessThanOrEqual(lengthS);
    }
  });

  /** Each text token attends to a separate quarter of a second, starting at 0 s. */
  const attention = (rows: number, frames: number) => {
    const data = new Float32Array(rows * frames).fill(1e-4);
    for (let row = 3; row < rows; row++)
      data.fill(1, row * frames + (row - 3) * 12, row * frames + (row - 2) * 12);
    return { data, heads: 1, rows, frames };
  };

  test('of words follow the attention of the decoder', async () => {
    const { window, graphs } = await decoded(
      says('<0.00> a b c d e f <1.60>'),
      { timestamps: 'word', previous: [tokenOf('x')] },
      { attention },
    );
    const text = 'a b c d e f'.split(' ');
    // The aligner runs on a prompt without timestamps and context.
    expect(graphs.aligned).toEqual([
      [
        special.startOfTranscript,
        language('en'),
        special.transcribe,
        special.noTimestamps,
        ...text.map(tokenOf),
      ],
    ]);
    expect(window.words.map(({ word }) => word)).toEqual(text);
    for (const [i, { startS, endS }] of window.words.entries()) {
      expect(Math.abs(startS - i * 0.24)).toBeLessThan(0.1);
      expect(Math.abs(endS - (i + 1) * 0.24)).toBeLessThan(0.1);
    }
    expect(window.segments[0]?.endS).toBe(window.words.at(-1)?.endS);
  });

  test('of words end at the start of the next window', async () => {
    const { window } = await decoded(
      says('<0.00> a b c d e f <1.00>'),
      { timestamps: 'word', samples: noise(4) },
      { attention },
    );
    expect(window.transcribedS).toBe(1);
    expect(window.words).toHaveLength(6);
    for (const { endS } of [...window.words, ...window.segments]) expect(endS).toBeLessThanOrEqual(1);
  });

  test('of words are estimated by length when the graphs provide no attention', async () => {
    const { window } = await decoded(says('<0.00> a <1.00>'), { timestamps: 'word' });
    expect(window.words).toEqual([{ word: 'a', startS: 0, endS: 1 }]);
    expect(window.segments).toMatchObject([{ startS: 0, endS: 1, text: 'a' }]);
  });
});

describe('random decoder output', () => {
  /** A few tokens that an attempt repeats; few different words, so that loops occur. */
  const step = fc.record({
    word: fc.integer({ min: 0, max: 3 }),
    logit: fc.constantFrom(SURE, SURE, SURE, 6, UNSURE, 1),
    other: fc.constantFrom('none', 'none', 'none', 'end', 'time'),
  });
  const attempts = fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 });
  const requests = fc.record({
    timestamps: fc.constantFrom('none', 'segment'),
    temperature: fc.constantFrom(0, 0, 0.7),
    lengthS: fc.constantFrom(2, 30),
  });
  const scripted =
    (said: typeof attempts extends fc.Arbitrary<infer All> ? All : never): Script =>
    (tokens, attempt): Logits => {
      const steps = said[attempt % said.length] ?? [];
      const { word, logit, other } = steps[tokens.length % steps.length] ?? {
        word: 0,
        logit: SURE,
        other: 'none',
      };
      // All attempts end after some rounds, except those without an end of text.
      const end = other === 'end' && tokens.length > steps.length * 2;
      const time = special.timestampBegin + Math.min(1_500, tokens.length * 3);
      return {
        [tokenOf(WORDS[word] ?? 'a')]: logit,
        ...(end ? { [special.endOfText]: logit + 1 } : {}),
        ...(other === 'time' ? { [time]: logit + 1 } : {}),
      };
    };

  test('emitted text is a prefix of the final text, and equal requests give equal results', async () => {
    await fc.assert(
      fc.asyncProperty(attempts, requests, async (said, { lengthS, ...options }) => {
        const fields = { ...options, samples: lengthS === 2 ? TWO_SECONDS : FULL };
        const { text, window, deltas } = await decoded(scripted(said), fields, { wordsAlone: true });
        expect(deltas).not.toContain('');
        expect(text).toBe(text.trim());
        // Each delta starts with a new word.
        for (const delta of deltas.slice(1)) expect(delta).toMatch(/^ /);
        expect(window.outputTokens).toBeLessThanOrEqual(223);
        if (fields.timestamps === 'segment') {
          expect(window.segments.map((segment) => segment.text).join(' ')).toBe(text);
          let lastS = 0;
          for (const { startS, endS } of window.segments) {
            expect(startS).toBeGreaterThanOrEqual(lastS);
            expect(endS).toBeGreaterThanOrEqual(startS);
            lastS = endS;
          }
          expect(lastS).toBeLessThanOrEqual(lengthS);
        }
        expect(window.outputTokens).toBe(text === '' ? 0 : text.split(' ').length);
        if (window.carryOver.length > 0) expect(wordTokenizer.decode(window.carryOver).trim()).toBe(text);
        const again = await decoded(scripted(said), fields, { wordsAlone: true });
        expect([again.deltas, again.window]).toEqual([deltas, window]);
      }),
      { numRuns: repetitions(10, 60) },
    );
  });
});
