import { createReadStream } from 'node:fs';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { type RecordingName, recording } from '../../tools/harness/media/recordings.ts';
import { wavFile } from '../../tools/harness/media/wav-files.ts';
import {
  childrenOf,
  INFERENCE,
  type LaunchedService,
  launchService,
  NO_SPEAKER,
  NO_TEXT,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import { IS_DEEP_TIER, inDeepTier, repetitions } from '../harness/tier.ts';
import { recorded } from '../media/heard-audio.ts';

/** Transcription by the real process with real models, through the OpenAI SDK. */

const CONFIG = `
${IS_DEEP_TIER ? '[models."svc-tts"]\nkind = "piper"' : NO_SPEAKER}
[models."svc-stt"]
kind = "whisper"
${NO_TEXT}`;
const PATH = '/v1/audio/transcriptions';
const JFK =
  'and so my fellow americans ask not what your country can do for you ask what you can do for your country';
const LICENCE =
  'permission is hereby granted free of charge to any person obtaining a copy of this software and associated documentation files to deal in the software without restriction';

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService({ config: CONFIG, env: { PLUGINS: 'speech' } });
});
afterAll(() => service?.stop());

const client = () => new OpenAI({ apiKey: SERVICE_KEY, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
const file = (name: RecordingName) => createReadStream(recording(name));
const plain = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s]/gu, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

async function usageRows(limit: number): Promise<Record<string, unknown>[]> {
  const page = (await (await service.fetch(`/v1/usage?limit=${limit}`)).json()) as {
    data: Record<string, unknown>[];
  };
  return page.data;
}

/** Samples at {@link LISTEN_RATE_HZ} as a WAV file. */
function wavOf(samples: Float32Samples): File {
  const shape = { kind: 'int', bits: 16, rateHz: LISTEN_RATE_HZ, channels: 1 } as const;
  return new File([wavFile(shape, samples)], 'clip.wav');
}

describe('a recording', () => {
  test('is transcribed in every response format', async () => {
    const { transcriptions } = client().audio;
    const beginning = wavOf(await recorded('jfk.flac', 0, 3));
    const request = { file: beginning, model: 'svc-stt' };
    const json = await transcriptions.create(request);
    expect(plain(json.text)).toMatch(/^and so my fellow americans/);
    expect(json.usage).toMatchObject({ type: 'tokens' });
    expect(await transcriptions.create({ ...request, response_format: 'text' })).toBe(`${json.text}\n`);

    const verbose = await transcriptions.create({
      file: file('jfk.flac'),
      model: 'svc-stt',
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(verbose).toMatchObject({ language: 'english', duration: 11 });
    expect(plain(verbose.text)).toBe(JFK);
    const { words = [], segments = [] } = verbose;
    expect(words.map(({ word }) => plain(word)).join(' ')).toBe(JFK);
    let lastS = 0;
    for (const { start, end } of words) {
      expect(start).toBeGreaterThanOrEqual(lastS);
      expect(end).toBeGreaterThanOrEqual(start);
      lastS = end;
    }
    expect(lastS).toBeLessThanOrEqual(11);
    // The word 'ask' occurs twice, after 3 s and after 8 s.
    const starts = words.filter(({ word }) => plain(word) === 'ask').map(({ start }) => start);
    expect(starts).toHaveLength(2);
    expect(Math.abs((starts[0] ?? 0) - 3.4)).toBeLessThan(0.5);
    expect(Math.abs((starts[1] ?? 0) - 8.2)).toBeLessThan(0.5);
    expect(segments.at(-1)?.end).toBeLessThanOrEqual(11);

    const srt = await transcriptions.create({ ...request, response_format: 'srt' });
    expect(srt).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:\d\d,\d{3}\n\S/);
    const vtt = await transcriptions.create({ ...request, response_format: 'vtt' });
    expect(vtt).toMatch(/^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:\d\d\.\d{3}\n\S/);
  });

  inDeepTier(() => {
    test('of several windows is streamed in deltas', async () => {
      const several = wavOf(await recorded('multilingual.mp3', 0, repetitions(32, 60)));
      const stream = await client().audio.transcriptions.create({
        file: several,
        model: 'svc-stt',
        stream: true,
      });
      let text = '';
      let deltas = 0;
      let done = '';
      for await (const event of stream) {
        if (event.type === 'transcript.text.delta') {
          deltas += 1;
          text += event.delta;
        } else if (event.type === 'transcript.text.done') done = event.text;
      }
      expect(text).toBe(done);
      expect(plain(text).startsWith(LICENCE.slice(0, 60))).toBe(true);
      expect(deltas).toBeGreaterThan(1);
    });
  });

  test('in German is transcribed in German and translated to English', async () => {
    const german = wavOf(await recorded('multilingual.mp3', 31, repetitions(50, 60)));
    const { transcriptions, translations } = client().audio;
    const transcript = await transcriptions.create({
      file: german,
      model: 'svc-stt',
      response_format: 'verbose_json',
    });
    expect(transcript.language).toBe('german');
    expect(plain(transcript.text)).toMatch(/\b(und|der|die)\b.*\bsoftware\b/);
    const english = await translations.create({
      file: german,
      model: 'svc-stt',
      response_format: 'verbose_json',
    });
    expect(english).toMatchObject({ language: 'english' });
    expect(plain(english.text)).toMatch(/\bsoftware\b/);
    expect(plain(english.text)).toMatch(/\b(and|the|of)\b/);
    expect(plain(english.text)).not.toMatch(/\b(und|oder|nicht)\b/);
    expect((await usageRows(1))[0]).toMatchObject({
      endpoint: '/v1/audio/translations',
      audio_seconds: expect.any(Number),
    });
  });
});

// In the default tier, speech-formats.test.ts transcribes synthesized speech, and no speech model is loaded here.
inDeepTier(() => {
  test('synthesized speech is transcribed to its text', async () => {
    const input = 'The ferry to the island leaves every morning at half past nine.';
    const speech = await service.fetch('/v1/audio/speech', {
      method: 'POST',
      headers: { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc-tts', input }),
    });
    const clip = new File([await speech.arrayBuffer()], 'ferry.wav');
    const { text } = await client().audio.transcriptions.create({
      file: clip,
      model: 'svc-stt',
      language: 'en',
    });
    expect(plain(text).replace('930', 'half past nine')).toBe(plain(input));
  });
});

test('silence has an empty transcript', async () => {
  const { data, response } = await client()
    .audio.transcriptions.create({ file: wavOf(new Float32Array(3 * LISTEN_RATE_HZ)), model: 'svc-stt' })
    .withResponse();
  expect(data.text).toBe('');
  const [row] = await usageRows(1);
  expect(row).toMatchObject({
    status: 'completed',
    audio_seconds: 3,
    request_id: response.headers.get('x-request-id'),
  });
  expect(row?.transcript).toBeUndefined();
});

test('an unsupported language is rejected', async () => {
  const clip = wavOf(new Float32Array(LISTEN_RATE_HZ));
  const rejected = client().audio.transcriptions.create({ file: clip, model: 'svc-stt', language: 'xx' });
  await expect(rejected).rejects.toMatchObject({
    status: 400,
    param: 'language',
    message: expect.stringContaining('de'),
  });
});

/** Starts a streamed transcription and reads its first delta. Returns a function that reads the rest. */
async function startStream(signal?: AbortSignal) {
  const body = new FormData();
  body.append('model', 'svc-stt');
  body.append('stream', 'true');
  body.append('file', await Bun.file(recording('multilingual.mp3')));
  const response = await service.fetch(PATH, {
    method: 'POST',
    headers: { 'x-api-key': SERVICE_KEY },
    body,
    ...(signal ? { signal } : {}),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toContain('transcript.text.delta');
  return async () => {
    let rest = '';
    for (;;) {
      const read = await reader?.read();
      if (read === undefined || read.done) return rest;
      rest += read.value;
    }
  };
}

inDeepTier(() => {
  test('a killed inference process fails only its running requests', async () => {
    const rest = await startStream();
    for (const pid of childrenOf(service.pid, INFERENCE)) process.kill(pid, 'SIGKILL');
    expect(await rest()).toMatch(/event: error\ndata: \{"error":\{"message":.*"code":"worker_crashed"/);
    expect((await service.fetch('/healthz')).status).toBe(200);
    expect((await usageRows(1))[0]).toMatchObject({ status: 'failed', endpoint: PATH });
    // The next request waits for the new process.
    const { text } = await client().audio.transcriptions.create({
      file: file('jfk.flac'),
      model: 'svc-stt',
    });
    expect(plain(text)).toBe(JFK);
  });
});

test('a disconnected client cancels its transcription', async () => {
  const controller = new AbortController();
  await startStream(controller.signal);
  controller.abort();
  await expect.poll(async () => (await usageRows(1))[0]?.status).toBe('cancelled');
  const { data } = (await (await service.fetch('/v1/usage?limit=1')).json()) as {
    data: { audio_seconds: number }[];
  };
  expect(data[0]?.audio_seconds).toBeLessThanOrEqual(60);
});

test('the log has no transcripts and no keys', () => {
  expect(service.log().length).toBeGreaterThan(0);
  expect(service.output()).not.toMatch(/country|permission|software|ferry|test-key-of/i);
});
