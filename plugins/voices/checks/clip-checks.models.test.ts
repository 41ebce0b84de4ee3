/** The checks with the real detector and speaker encoder: clips of one person pass; sounds and two speakers are rejected. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sound, soundsWithoutSpeech } from '../../../bench/corpus/sounds.ts';
import { loadConfig } from '../../../server/config.ts';
import { Resampler } from '../../../src/audio/resampler.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { VadEngine } from '../../../src/contract/engines/engine.ts';
import { openVad } from '../../../src/engines/silero/host/engine.ts';
import { encodeVoice } from '../../../src/engines/speakers/host/voice-print.ts';
import { loadSpeakers, type SpeakerModel } from '../../../src/engines/speakers/worker/model.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { channelOf, recorded } from '../../../test/media/heard-audio.ts';
import { noMetrics, silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { joined, withNoise } from '../../../tools/harness/media/sample-runs.ts';
import { SPOKEN_RATE_HZ, silence, speak } from '../../../tools/harness/media/spoken.ts';
import { clipWarnings } from './clip-warnings.ts';
import { requireSpeech } from './enough-speech.ts';
import { groupSpeakers, requireOneSpeaker } from './one-speaker.ts';
import { extractSpeech, speechSpans } from './speech-spans.ts';

const never = new AbortController().signal;
const FILE = 'stereo_diarization.wav';
let vad: VadEngine;
let speakers: SpeakerModel;
/** 11 s of a piper voice. */
let joe: Float32Samples;
beforeAll(async () => {
  const { modelsDir } = loadConfig(process.env);
  vad = await openVad({ modelsDir, environment: {}, log: silentLog, metrics: noMetrics });
  speakers = await loadSpeakers({ modelsDir, runtime: { provider: 'cpu', threads: 1 } });
  const parts = await speak([
    'The harbour was quiet that morning, and only two of the boats had gone out.',
    'Nobody expected rain!',
    'Would you mind telling me where the old library is?',
    'I was there many years ago, when the river still ran behind it.',
  ]);
  const spoken = joined(parts.flatMap((part) => [part, silence(250)]));
  const resampler = new Resampler({ fromHz: SPOKEN_RATE_HZ, toHz: LISTEN_RATE_HZ, format: 'float32' });
  joe = joined([resampler.push(spoken), resampler.flush()]);
  resampler.close();
});
afterAll(async () => {
  await vad?.close();
  await speakers?.close();
});

const seconds = (samples: Float32Samples, fromS: number, toS: number) =>
  samples.slice(fromS * LISTEN_RATE_HZ, toS * LISTEN_RATE_HZ);

/** Speaker embeddings of the speech windows. */
async function windowsOf(samples: Float32Samples) {
  const speech = extractSpeech(samples, await speechSpans(vad, samples, never));
  const pool = {
    runJob: (_: string, { request }: { request: unknown }) => speakers.open(request as never),
  } as never;
  const request = { samples: speech, rateHz: LISTEN_RATE_HZ };
  const work = { priority: 'interactive', fairnessKey: 'test' } as const;
  return (await encodeVoice(pool, 'speakers', request, work, never)).partials;
}

/** @throws the errors of the checks. */
async function check(samples: Float32Samples): Promise<void> {
  requireSpeech(await speechSpans(vad, samples, never), samples.length / LISTEN_RATE_HZ);
  requireOneSpeaker(await windowsOf(samples));
}
const warningsOf = async (samples: Float32Samples) =>
  clipWarnings({ samples, resampled: samples, spans: await speechSpans(vad, samples, never) }).map(
    ({ code }) => code,
  );

describe('one speaker', () => {
  it('passes: synthetic speech', async () => {
    await check(joe);
    expect(await warningsOf(joe)).toEqual([]);
  });

  it.each([
    [-30, ['noise']],
    [-45, []],
  ])('passes with noise of %i dB, with a warning if it is loud', async (levelDb, codes) => {
    const noisy = withNoise(joe, levelDb);
    await check(noisy);
    expect(await warningsOf(noisy)).toEqual(codes);
  });

  it('passes: a recorded speech', async () => {
    const speech = await recorded('jfk.flac');
    await check(speech);
    expect(await warningsOf(speech)).toEqual([]);
    const loud = speech.map((sample) => Math.max(-1, Math.min(1, sample * 4)));
    await check(loud);
    expect(await warningsOf(loud)).toEqual(['clipping']);
  });

  // English until 29 s, German from 31 s.
  it.for([0, 32, 8, 16, 44].slice(0, repetitions(2, 5)))(
    'passes: a recorded reader, from %i s',
    async (fromS) => {
      await check(await recorded('multilingual.mp3', fromS, fromS + 11));
    },
  );
});

describe('two speakers are rejected', () => {
  it('one after the other', async () => {
    const speech = await recorded('jfk.flac');
    const both = joined([seconds(speech, 0, 6), seconds(joe, 0, 6)]);
    expect(groupSpeakers(await windowsOf(both)).similarity).toBeLessThan(0.7);
    await expect(check(both)).rejects.toThrow('single speaker');
  });

  it('one of them for a short time', async () => {
    const speech = await recorded('jfk.flac');
    await expect(check(joined([seconds(joe, 0, 8), seconds(speech, 0, 5)]))).rejects.toThrow(
      'single speaker',
    );
  });

  it('in a conversation', async () => {
    const [one, other] = [await channelOf(FILE, 0), await channelOf(FILE, 1)];
    await expect(check(joined([one, other]))).rejects.toThrow('single speaker');
  });
});

describe('clips without speech are rejected', () => {
  const everyKind = new Map<string, Sound>();
  for (const sound of soundsWithoutSpeech()) everyKind.set(sound.name.split('-')[0] ?? '', sound);

  it.each([...everyKind])('%s', async (_, { samples }) => {
    // Short sounds are repeated up to the maximum length of a clip.
    const clip = Float32Array.from(
      { length: 10 * LISTEN_RATE_HZ },
      (_, at) => samples[at % samples.length] ?? 0,
    );
    await expect(check(clip)).rejects.toThrow('it must have at least 3 s of speech');
  });

  it('a word in silence', async () => {
    const clip = new Float32Array(10 * LISTEN_RATE_HZ);
    clip.set(seconds(joe, 0, 2), 4 * LISTEN_RATE_HZ);
    await expect(check(clip)).rejects.toThrow('s of speech in 10.0 s');
  });
});
