import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openKokoro, type RealKokoro } from '../../../../test/harness/real-kokoro.ts';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import {
  clickRatio,
  envelopeCorrelation,
  loudnessDb,
  silentEdges,
} from '../../../../test/media/audio-checks.ts';
import { joined } from '../../../../tools/harness/media/sample-runs.ts';
import { Resampler } from '../../../audio/resampler.ts';
import { loadConfig } from '../../../config/config.ts';
import { LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { ModelVoice } from '../../pool/model.ts';
import { medianPitch } from '../../speakers/worker/median-pitch.ts';
import { type KokoroMix, writeMix } from '../shared/voice-mix.ts';
import { loadKokoro } from './model.ts';
import { loadPhonemizer } from './phonemizer.ts';

/** The shipped weights on the real runtime, in this process. */
let kokoro: RealKokoro;
beforeAll(async () => {
  kokoro = await openKokoro();
}, 120_000);
afterAll(() => kokoro?.close());

const SENTENCE =
  'Long inputs are split internally at sentence boundaries and returned as one audio response, and the audio length scales linearly with the input length.';
const TEXTS = [
  'No.',
  'Hello there, how can I help you today?',
  'It was the best of times, it was the worst of times.',
  SENTENCE,
];

describe('windows', () => {
  test.each(TEXTS)('match one-shot synthesis in loudness: %s', async (text) => {
    const streamed = await kokoro.speak({ text, speed: 1, delivery: 'stream' });
    const exact = await kokoro.speakExactly(text);
    expect(streamed.length).toBe(exact.length);
    expect(envelopeCorrelation(streamed, exact, 24_000)).toBeGreaterThan(0.98);
  });

  test('of a stream and of a whole give the same sound, without clicks at the seams', async () => {
    const runs = await kokoro.runs({ text: SENTENCE, speed: 1, delivery: 'stream' });
    const whole = await kokoro.speak({ text: SENTENCE, speed: 1, delivery: 'whole' });
    const streamed = Float32Array.from(runs.flatMap((run) => Array.from(run)));
    expect(streamed.length).toBe(whole.length);
    expect(envelopeCorrelation(streamed, whole, 24_000)).toBeGreaterThan(0.98);
    expect(runs.length).toBeGreaterThan(3);
    let seam = 0;
    for (const run of runs.slice(0, -1)) {
      seam += run.length;
      expect(clickRatio(streamed, seam)).toBeLessThan(2);
    }
  });

  test('the first is one second of a ten-second sentence', async () => {
    const [first] = await kokoro.runs({ text: SENTENCE, speed: 1, delivery: 'stream' });
    expect(first?.length).toBe(24_000);
  });

  test.each(['no '.repeat(40), '1'.repeat(50), 'Call 5551111111 1111111111 today.'])(
    'stay in bounds on texts unlike any other: %s',
    async (text) => {
      const samples = await kokoro.speak({ text, speed: 1, delivery: 'stream' });
      const exact = await kokoro.speakExactly(text);
      expect(Math.abs(loudnessDb(samples) - loudnessDb(exact))).toBeLessThan(3);
      expect(samples.some((sample) => Math.abs(sample) >= 1)).toBe(false);
      const start = (heard: Float32Array) => loudnessDb(heard.subarray(0, 24_000));
      expect(Math.abs(start(samples) - start(exact))).toBeLessThan(6);
    },
  );
});

describe('speech', () => {
  test('has the loudness of speech, little silence around it, and an end that fades', async () => {
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

  test('swings around zero', async () => {
    for (const text of TEXTS) {
      const samples = await kokoro.speak({ text, speed: 1, delivery: 'whole' });
      const offset = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
      // In 16 bits, less than 20 of 32,768.
      expect(Math.abs(offset)).toBeLessThan(6e-4);
    }
  });

  test('is the same for the same request', async () => {
    const request = { text: TEXTS[1] ?? '', speed: 1, delivery: 'stream' } as const;
    expect(await kokoro.speakAgain(request)).toEqual(await kokoro.speak(request));
  });

  test('follows the speed', async () => {
    const seconds = async (speed: number) =>
      (await kokoro.speak({ text: TEXTS[2] ?? '', speed, delivery: 'whole' })).length / 24_000;
    const [slow, natural, fast] = [await seconds(0.5), await seconds(1), await seconds(2)];
    expect(slow / natural).toBeGreaterThan(1.6);
    expect(natural / fast).toBeGreaterThan(1.5);
  });

  test('of more tokens than one pass holds loses nothing', async () => {
    const sentence = 'Seven silver swans swam silently seaward. ';
    const once = await kokoro.speak({ text: sentence, speed: 1, delivery: 'whole' });
    const many = await kokoro.speak({ text: sentence.repeat(16), speed: 1, delivery: 'whole' });
    expect(many.length / once.length).toBeGreaterThan(12);
    expect(many.length / once.length).toBeLessThan(20);
  });

  test('of nothing that can be spoken is nothing', async () => {
    expect((await kokoro.speak({ text: '… — !', speed: 1, delivery: 'stream' })).length).toBe(0);
  });

  test('takes other voices, and names those that there are', async () => {
    const request = { text: TEXTS[1] ?? '', speed: 1, delivery: 'whole' } as const;
    const other = await kokoro.speak({ ...request, voice: { kind: 'preset', name: 'am_adam' } });
    expect(loudnessDb(other)).toBeGreaterThan(-35);
    await expect(kokoro.speak({ ...request, voice: { kind: 'preset', name: 'nobody' } })).rejects.toThrow(
      /no voice 'nobody'.*af_heart/,
    );
  }, 60_000);
});

describe('mixes', () => {
  const text = TEXTS[1] ?? '';
  const adaptation = (mix: KokoroMix): ModelVoice => ({ kind: 'adaptation', adaptation: writeMix(mix) });
  const alone = { timbre: { af_heart: 1 }, prosody: { af_heart: 1 }, pitchScale: 1 };

  test('of one voice sound like that voice', async () => {
    const request = { text, speed: 1, delivery: 'stream' } as const;
    const [mix, voice] = [
      await kokoro.speak({ ...request, voice: adaptation(alone) }),
      await kokoro.speak(request),
    ];
    expect(mix.length).toBe(voice.length);
    expect(envelopeCorrelation(mix, voice, 24_000)).toBeGreaterThan(0.999);
  });

  test('are spoken as high as they say', async () => {
    const pitch = async (pitchScale: number) => {
      const voice = adaptation({ ...alone, pitchScale });
      const samples = await kokoro.speak({ text, speed: 1, delivery: 'whole', voice });
      const resampler = new Resampler({ fromHz: 24_000, toHz: LISTEN_RATE_HZ, format: 'float32' });
      return medianPitch(joined([resampler.push(Float32Array.from(samples)), resampler.flush()])) ?? 0;
    };
    expect((await pitch(1.25)) / (await pitch(1))).toBeCloseTo(1.25, 1);
    expect((await pitch(0.8)) / (await pitch(1))).toBeCloseTo(0.8, 1);
  });

  test('have the loudness of speech, far from their voices too', async () => {
    const timbre = { af_heart: 1.3, am_adam: -0.3 };
    const voice = adaptation({ timbre, prosody: { af_heart: 0.5, am_adam: 0.5 }, pitchScale: 0.9 });
    const samples = await kokoro.speak({ text, speed: 1, delivery: 'stream', voice });
    expect(loudnessDb(samples)).toBeGreaterThan(-35);
    expect(loudnessDb(samples)).toBeLessThan(-15);
    expect(samples.some((sample) => Math.abs(sample) >= 1)).toBe(false);
  });

  test('are spoken at once where their voices were never measured, which is not done meanwhile', async () => {
    const { modelsDir } = loadConfig(process.env);
    const other = await tempDir();
    const imports = join(other, 'imports');
    await mkdir(imports);
    for (const made of ['sha256', 'imports/kokoro']) await symlink(join(modelsDir, made), join(other, made));
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
  }, 120_000);

  test('that are none are refused', async () => {
    const voice: ModelVoice = { kind: 'adaptation', adaptation: '{}' };
    const request = { text, speed: 1, delivery: 'whole', voice } as const;
    await expect(kokoro.speak(request)).rejects.toThrow('no mix of voices');
  });
});

test('every voice that was named is loaded at the start', async () => {
  const { modelsDir } = loadConfig(process.env);
  const runtime = { provider: 'cpu', threads: 2 } as const;
  await expect(loadKokoro({ modelsDir, voices: ['af_heart', 'nobody'], runtime })).rejects.toThrow(
    /no voice 'nobody'/,
  );
}, 60_000);

describe('text', () => {
  test('spells what no dictionary has when eSpeak cannot be loaded, and says so without its reasons', async () => {
    const { modelsDir } = loadConfig(process.env);
    const written: string[] = [];
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
      written.push(String(line));
      return true;
    });
    onTestFinished(() => stderr.mockRestore());
    const { toPhonemes } = await loadPhonemizer(modelsDir, () => Promise.reject(new TypeError('private')));
    expect(written.join('')).toMatch(/^eSpeak could not be loaded \(TypeError\).*\n$/);
    expect(await toPhonemes('Xqzv.')).toBe('ˌɛkskjˌuzˌivˈi.');
    expect(await toPhonemes('Hello.')).toBe('həlˈO.');
  });
});

test('graphs for a GPU speak as those for the CPU do', async () => {
  // float16 products run on the CPU as well, only slowly: this proves the graphs, not the provider.
  const text = TEXTS[1] ?? '';
  const other = await kokoro.speakWith('float16', text);
  const here = await kokoro.speak({ text, speed: 1, delivery: 'whole' });
  expect(Math.abs(other.length - here.length) / here.length).toBeLessThan(0.1);
  expect(Math.abs(loudnessDb(other) - loudnessDb(here))).toBeLessThan(3);
}, 120_000);

test('weights for CPUs without fast dot products give the very same samples', async () => {
  const text = TEXTS[1] ?? '';
  const here = await kokoro.speak({ text, speed: 1, delivery: 'whole' });
  // Exact everywhere. Not the other way round: int8 weights saturate on the processors that get these.
  const other = await kokoro.speakWith('uint8', text);
  expect(other).toEqual(here);
}, 120_000);
