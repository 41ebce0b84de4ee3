import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { channelOf, recorded, soundsWithoutSpeech } from '../../../../test/media/heard-audio.ts';
import { joined } from '../../../../tools/harness/media/sample-runs.ts';
import { loadConfig } from '../../../config/config.ts';
import { sileroFile } from '../../silero/shared/file.ts';
import { loadSilero } from '../../silero/worker/model.ts';
import { SpeechGate } from './speech-gate.ts';

/** Tests the gate with the real detector. */

const RATE_HZ = 16_000;
let gate: SpeechGate;
beforeAll(async () => {
  const file = sileroFile(loadConfig(process.env).modelsDir);
  gate = new SpeechGate(await loadSilero(file, { provider: 'cpu', threads: 1 }));
});
afterAll(() => gate?.close());

describe('detects no speech in', () => {
  test.each(Object.entries(soundsWithoutSpeech()))('%s', async (_, samples) => {
    expect(await gate.speechStartS(samples)).toBeUndefined();
  });

  test('no samples, one sample and one frame', async () => {
    for (const length of [0, 1, 512, 513]) {
      expect(await gate.speechStartS(new Float32Array(length).fill(0.1))).toBeUndefined();
    }
  });
});

describe('detects speech in', () => {
  test('a recording and any second of it', async () => {
    const speech = await recorded('jfk.flac');
    expect(await gate.speechStartS(speech)).toBeGreaterThanOrEqual(0);
    // The first words with the pause after them, and the last words.
    for (const fromS of [0.3, 3.2, 5.3, 8.2, 9.5]) {
      expect(
        await gate.speechStartS(speech.slice(fromS * RATE_HZ, (fromS + 1) * RATE_HZ)),
      ).toBeGreaterThanOrEqual(0);
    }
  });

  test('each of two speakers, and another language', async () => {
    expect(await gate.speechStartS(await channelOf('stereo_diarization.wav', 0))).toBeGreaterThanOrEqual(0);
    expect(await gate.speechStartS(await channelOf('stereo_diarization.wav', 1))).toBeGreaterThanOrEqual(0);
    expect(await gate.speechStartS(await recorded('multilingual.mp3', 31, 33))).toBeGreaterThanOrEqual(0);
  });

  test('a word at the end of a long silence, and a quiet one', async () => {
    const word = (await recorded('jfk.flac')).slice(8 * RATE_HZ, 9 * RATE_HZ);
    const late = await gate.speechStartS(joined([new Float32Array(25 * RATE_HZ), word]));
    expect(late).toBeGreaterThan(24.9);
    expect(late).toBeLessThan(25.5);
    expect(await gate.speechStartS(word.map((sample) => sample / 1000))).toBeGreaterThanOrEqual(0);
    expect(await gate.speechStartS(word.map((sample) => sample / 20_000))).toBeUndefined();
  });
});

test('the result does not depend on earlier audio', async () => {
  const speech = (await recorded('jfk.flac')).slice(0, 2 * RATE_HZ);
  const { silence, hum } = soundsWithoutSpeech();
  const detected: boolean[] = [];
  for (const samples of [speech, silence, speech, hum, hum, speech]) {
    detected.push((await gate.speechStartS(samples ?? new Float32Array(0))) !== undefined);
  }
  expect(detected).toEqual([true, false, true, false, false, true]);
});
