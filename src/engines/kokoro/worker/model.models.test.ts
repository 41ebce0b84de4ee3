import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openKokoro, type RealKokoro } from '../../../../test/harness/real-kokoro.ts';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { inDeepTier, repetitions } from '../../../../test/harness/tier.ts';
import {
  clickRatio,
  envelopeCorrelation,
  loudnessDb,
  silentEdges,
} from '../../../../test/media/audio-checks.ts';
import { maxPauseInWord, timedSpeech } from '../../../../test/media/word-checks.ts';
import { joined } from '../../../../tools/harness/media/sample-runs.ts';
import { Resampler } from '../../../audio/resampler.ts';
import { loadConfig } from '../../../config/config.ts';
import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { ModelVoice } from '../../../inference/pool/model.ts';
import { resolveModelFiles } from '../../../models/model-files.ts';
import { openAmerican } from '../../../text/english/index.ts';
import { medianPitch } from '../../speakers/worker/median-pitch.ts';
import { type KokoroMix, writeMix } from '../shared/voice-mix.ts';
import { loadKokoro } from './model.ts';
import { loadPhonemizer } from './phonemizer.ts';

/** The published weights on ONNX Runtime, in this process. */
let kokoro: RealKokoro;
beforeAll(async () => {
  kokoro = await openKokoro();
});
afterAll(() => kokoro?.close());

/** Speech of 1.4 s, decoded in two windows. */
const SHORT = 'Hello there, how are you?';
/** Speech of more than 3 s, decoded in three windows. */
const SENTENCE = 'The harbour was quiet that morning, and two boats lay at the pier.';
const ALL_TEXTS = [
  SHORT,
  'No.',
  SENTENCE,
  'It was the best of times, it was the worst of times.',
  'Long inputs are split internally at sentence boundaries and returned as one audio response, and the audio length scales linearly with the input length.',
];
const TEXTS = ALL_TEXTS.slice(0, repetitions(1, ALL_TEXTS.length));
const UNUSUAL_TEXTS = ['1'.repeat(10), 'Call 5551111111 today.', 'no '.repeat(24), '1'.repeat(24)];

describe('decoding in windows', () => {
  test.each(TEXTS)('has the loudness of one-shot synthesis: %s', async (text) => {
    const streamed = await kokoro.speak({ text, speed: 1, delivery: 'stream' });
    const exact = await kokoro.speakExactly(text);
    expect(streamed.length).toBe(exact.length);
    expect(envelopeCorrelation(streamed, exact, 24_000)).toBeGreaterThan(0.98);
  });

  inDeepTier(() => {
    test('gives the same audio for both deliveries, without clicks at window boundaries', async () => {
      const runs = await kokoro.runs({ text: SENTENCE, speed: 1, delivery: 'stream' });
      const whole = await kokoro.speak({ text: SENTENCE, speed: 1, delivery: 'whole' });
      const streamed = Float32Array.from(runs.flatMap((chunk) => Array.from(chunk)));
      expect(streamed.length).toBe(whole.length);
      expect(envelopeCorrelation(streamed, whole, 24_000)).toBeGreaterThan(0.98);
      expect(runs).toHaveLength(3);
      let seam = 0;
      for (const chunk of runs.slice(0, -1)) {
        seam += chunk.length;
        expect(clickRatio(streamed, seam)).toBeLessThan(2);
      }
    });
  });

  test('ends with its last window', async () => {
    const steps = kokoro.model.open({ text: TEXTS[0] ?? '', speed: 1, delivery: 'stream', words: true });
    let step = await steps.next();
    while (!step.done) step = await steps.next();
    expect(step.value).toBeInstanceOf(Float32Array);
  });

  test('starts with a window of one second in a longer sentence', async () => {
    const [first] = await kokoro.runs({ text: SENTENCE, speed: 1, delivery: 'stream' });
    expect(first?.length).toBe(24_000);
  });

  inDeepTier(() => {
    test.each(UNUSUAL_TEXTS)('keeps the level of unusual texts in bounds: %s', async (text) => {
      const samples = await kokoro.speak({ text, speed: 1, delivery: 'stream' });
      const exact = await kokoro.speakExactly(text);
      expect(Math.abs(loudnessDb(samples) - loudnessDb(exact))).toBeLessThan(3);
      expect(samples.some((sample) => Math.abs(sample) >= 1)).toBe(false);
      const start = (audio: Float32Array) => loudnessDb(audio.subarray(0, 24_000));
      expect(Math.abs(start(samples) - start(exact))).toBeLessThan(6);
    });
  });
});

describe('speech', () => {
  inDeepTier(() => {
    test('has the loudness of speech, little silence around it and a fade-out', async () => {
      for (const text of TEXTS) {
        const samples = await kokoro.speak({ text, speed: 1, delivery: 'whole' });
        expect(loudnessDb(samples)).toBeGreaterThan(-35);
        expect(loudnessDb(samples)).toBeLessThan(-15);
        const { leadMs, trailMs } = silentEdges(samples, 24_000);
        expect(leadMs).toBeLessThan(200);
        expect(trailMs).toBeGreaterThan(80);
        expect(trailMs).toBeLessThan(700);
      }
    });

    test('has no DC offset', async () => {
      for (const text of TEXTS) {
        const samples = await kokoro.speak({ text, speed: 1, delivery: 'whole' });
        const offset = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
        // Less than 20 of 32,768 in 16-bit samples.
        expect(Math.abs(offset)).toBeLessThan(6e-4);
      }
    });
  });

  test('is deterministic for the same request', async () => {
    const request = { text: SHORT, speed: 1, delivery: 'stream' } as const;
    expect(await kokoro.speakAgain(request)).toEqual(await kokoro.speak(request));
  });

  test('has a duration that follows the speed', async () => {
    const seconds = async (speed: number) =>
      (await kokoro.speak({ text: SHORT, speed, delivery: 'stream' })).length / 24_000;
    const natural = await seconds(1);
    for (const speed of [2, 0.5].slice(0, repetitions(1, 2))) {
      expect(natural / (await seconds(speed)) / speed).toBeGreaterThan(0.75);
      expect(natural / (await seconds(speed)) / speed).toBeLessThan(1.25);
    }
  });

  // Takes 15 s.
  inDeepTier(() => {
    test('is complete for texts with more tokens than one inference step', async () => {
      // 11 sentences have just over 510 tokens. At a high speed, their audio is shorter.
      const sentence = 'Seven silver swans swam silently seaward. ';
      const once = await kokoro.speak({ text: sentence, speed: 4, delivery: 'whole' });
      const many = await kokoro.speak({ text: sentence.repeat(11), speed: 4, delivery: 'whole' });
      expect(many.length / once.length).toBeGreaterThan(8.3);
      expect(many.length / once.length).toBeLessThan(13.7);
    });
  });

  test('is empty for text without speakable content', async () => {
    expect((await kokoro.speak({ text: '… — !', speed: 1, delivery: 'stream' })).length).toBe(0);
  });

  test('gives the same audio for a text with invisible characters inside words', async () => {
    const request = { speed: 1, delivery: 'whole' } as const;
    const marked = SHORT.replace('there', 'th\u200be\u00adre').replace('are', '\ufeffa\u2060re\u200d');
    expect(await kokoro.speak({ text: marked, ...request })).toEqual(
      await kokoro.speak({ text: SHORT, ...request }),
    );
  });

  test('supports other voices, and lists the available voices for an unknown one', async () => {
    const request = { text: SHORT, speed: 1, delivery: 'whole' } as const;
    const other = await kokoro.speak({ ...request, voice: { kind: 'preset', name: 'am_adam' } });
    expect(loudnessDb(other)).toBeGreaterThan(-35);
    await expect(kokoro.speak({ ...request, voice: { kind: 'preset', name: 'unknown' } })).rejects.toThrow(
      /no voice 'unknown'.*af_heart/,
    );
  });
});

describe('word times', () => {
  const TIMED_TEXTS = [
    ['Hello there. How are you?', 0.7],
    ['Stop! Then go, quietly, home: it costs $5.', 1],
    ['Stop! Then go, quietly, home: it costs $5.', 1.5],
  ] as const;

  test.each(TIMED_TEXTS.slice(0, repetitions(1, TIMED_TEXTS.length)))(
    'of "%s" at speed %d match the pauses of the audio',
    async (text, speed) => {
      const speech = await timedSpeech(kokoro.model, text, 24_000, speed);
      expect(speech.words.map((word) => word.text).join('')).toBe(text);
      expect(speech.words).toHaveLength(text.split(' ').length);
      expect(speech.isAhead).toBe(true);
      expect(maxPauseInWord(speech, 24_000)).toBeLessThan(80);
    },
  );

  inDeepTier(() => {
    test('keep the rhythm at a higher speed', async () => {
      const speed = 1.5;
      const natural = await timedSpeech(kokoro.model, SENTENCE, 24_000);
      const fast = await timedSpeech(kokoro.model, SENTENCE, 24_000, speed);
      expect(Math.abs((fast.samples.length * speed) / natural.samples.length - 1)).toBeLessThan(0.02);
      const offsets = natural.words.map(({ startMs }, word) =>
        Math.abs((fast.words[word]?.startMs ?? Number.NaN) * speed - startMs),
      );
      // Tokens that are rounded alone shorten the sounds more than the pauses, which gives 42 ms.
      expect(offsets.reduce((sum, offset) => sum + offset, 0) / offsets.length).toBeLessThan(33);
    });
  });
});

describe('mixes', () => {
  const text = SHORT;
  const adaptation = (mix: KokoroMix): ModelVoice => ({ kind: 'adaptation', adaptation: writeMix(mix) });
  const alone = { timbre: { af_heart: 1 }, prosody: { af_heart: 1 }, pitchScale: 1 };

  inDeepTier(() => {
    test('with a single voice sound like that voice', async () => {
      const request = { text, speed: 1, delivery: 'stream' } as const;
      const [mix, voice] = [
        await kokoro.speak({ ...request, voice: adaptation(alone) }),
        await kokoro.speak(request),
      ];
      expect(mix.length).toBe(voice.length);
      expect(envelopeCorrelation(mix, voice, 24_000)).toBeGreaterThan(0.999);
    });

    test('apply the pitch scale', async () => {
      const pitch = async (pitchScale: number) => {
        const voice = adaptation({ ...alone, pitchScale });
        const samples = await kokoro.speak({ text, speed: 1, delivery: 'stream', voice });
        const resampler = new Resampler({ fromHz: 24_000, toHz: LISTEN_RATE_HZ, format: 'float32' });
        return medianPitch(joined([resampler.push(Float32Array.from(samples)), resampler.flush()])) ?? 0;
      };
      for (const scale of [1.25, 0.8].slice(0, repetitions(1, 2)))
        expect((await pitch(scale)) / (await pitch(1))).toBeCloseTo(scale, 1);
    });

    test('have the loudness of speech even with extrapolated weights', async () => {
      const timbre = { af_heart: 1.3, am_adam: -0.3 };
      const voice = adaptation({ timbre, prosody: { af_heart: 0.5, am_adam: 0.5 }, pitchScale: 0.9 });
      const samples = await kokoro.speak({ text, speed: 1, delivery: 'stream', voice });
      expect(loudnessDb(samples)).toBeGreaterThan(-35);
      expect(loudnessDb(samples)).toBeLessThan(-15);
      expect(samples.some((sample) => Math.abs(sample) >= 1)).toBe(false);
    });
  });

  // Takes 20 s: loading the model measures its default voice.
  inDeepTier(() => {
    test('with unmeasured voices are synthesized without a measurement', async () => {
      const { modelsDir } = loadConfig(process.env);
      const other = await tempDir();
      const imports = join(other, 'imports');
      await mkdir(imports);
      for (const made of ['sha256', 'imports/kokoro'])
        await symlink(join(modelsDir, made), join(other, made));
      const runtime = { provider: 'cpu', threads: 2 } as const;
      const fresh = await loadKokoro({ modelsDir: other, voices: ['af_heart'], runtime });
      try {
        const parts = { af_heart: 0.5, am_adam: 0.5 };
        const voice = adaptation({ timbre: parts, prosody: parts, pitchScale: 1 });
        const request = { text, speed: 1, delivery: 'stream', voice } as const;
        const before = await readdir(join(imports, 'kokoro-voice'));
        const [unmeasured, measured] = [await kokoro.speakAgain(request, fresh), await kokoro.speak(request)];
        expect(await readdir(join(imports, 'kokoro-voice'))).toEqual(before);
        expect(unmeasured.length).toBe(measured.length);
        expect(envelopeCorrelation(unmeasured, measured, 24_000)).toBeGreaterThan(0.9);
      } finally {
        await fresh.close();
      }
    });
  });

  test('are rejected if the adaptation is not a mix', async () => {
    const voice: ModelVoice = { kind: 'adaptation', adaptation: '{}' };
    const request = { text, speed: 1, delivery: 'whole', voice } as const;
    await expect(kokoro.speak(request)).rejects.toThrow('not a mix');
  });
});

test('startup loads every configured voice', async () => {
  const { modelsDir } = loadConfig(process.env);
  const runtime = { provider: 'cpu', threads: 2 } as const;
  await expect(loadKokoro({ modelsDir, voices: ['af_heart', 'unknown'], runtime })).rejects.toThrow(
    /no voice 'unknown'/,
  );
});

describe('phonemizer', () => {
  test('spells unknown words when eSpeak cannot be loaded, and logs only the name of the error', async () => {
    const { modelsDir } = loadConfig(process.env);
    const written: string[] = [];
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
      written.push(String(line));
      return true;
    });
    onTestFinished(() => stderr.mockRestore());
    const files = (entry: string) => resolveModelFiles(modelsDir, entry);
    const { vocabulary: symbols } = await loadPhonemizer(modelsDir);
    const load = () => Promise.reject(new TypeError('private'));
    const g2p = await openAmerican({ symbols, files }, load);
    const toPhonemes = async (text: string) => (await g2p.phonemize(text)).phonemes;
    expect(written.join('')).toMatch(/^eSpeak could not be loaded \(TypeError\).*\n$/);
    expect(await toPhonemes('Xqzv.')).toBe('ˌɛkskjˌuzˌivˈi.');
    expect(await toPhonemes('Hello.')).toBe('həlˈO.');
  });
});
