import { connect } from 'node:net';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  childrenOf,
  INFERENCE,
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_TEXT,
  OTHER_KEY,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import { inDeepTier, repetitions } from '../harness/tier.ts';
import { clickRatio, loudnessDb, maxGapMs, silentEdges } from '../media/audio-checks.ts';

/** Speech synthesis end to end: the service in a process of its own, real models, real clients. */

const CONFIG = `
[models."svc-tts"]
kind = "kokoro"
[models."svc-tts-fast"]
kind = "piper"
${NO_RECOGNISER}${NO_TEXT}`;
const PATH = '/v1/audio/speech';
const HELLO = 'Hello there, how can I help you today?';
/** For tests of which the length of the audio does not matter. */
const SHORT = 'Hello.';
const STORY =
  'It was the best of times, it was the worst of times. Nobody knew which of the two it really was. ';
const PHRASE = 'Hello there, how are you? ';
/** Shorter than the length at which a sentence is split into clauses. */
const LONG_SENTENCE =
  'The old lighthouse keeper walked slowly along the narrow stone path above the harbour every evening after supper and counted the small wooden boats that came home before the tide turned.';
const BYTES_PER_SECOND = 48_000;

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService({ config: CONFIG, env: { PLUGINS: 'speech' } });
});
afterAll(() => service?.stop());

function post(fields: Record<string, unknown>, init: RequestInit = {}): Promise<Response> {
  return service.fetch(PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc-tts-fast', input: HELLO, ...fields }),
    ...init,
  });
}

/** Samples of raw 16-bit PCM, full scale ±1. */
function samplesOf(bytes: Uint8Array): Float32Array {
  const whole = new Int16Array(bytes.slice().buffer);
  return Float32Array.from(whole, (sample) => sample / 32_768);
}

/** Samples of streamed speech by model and text, because synthesis takes most of the time of this file. */
const spoken = new Map<string, Promise<Float32Array>>();
const spokenKey = (model: string, input: string) => `${model} ${input}`;

/** Samples of a streamed text, synthesized once. */
function speak(model: string, input: string): Promise<Float32Array> {
  const synthesize = async () =>
    samplesOf(await (await post({ model, input, response_format: 'pcm' })).bytes());
  const samples = spoken.get(spokenKey(model, input)) ?? synthesize();
  spoken.set(spokenKey(model, input), samples);
  return samples;
}

/** Number of inference steps of one kind of model. */
async function stepCount(model: 'kokoro' | 'piper'): Promise<number> {
  const metrics = await (await service.fetch('/metrics')).text();
  const line = new RegExp(`^inference_step_seconds_count\\{model="${model}"\\} (\\d+)$`, 'm').exec(metrics);
  return Number(line?.[1] ?? 0);
}

/** Usage rows of the caller, newest first. */
async function usageRows(limit: number, key = SERVICE_KEY): Promise<Record<string, unknown>[]> {
  const headers = { authorization: `Bearer ${key}` };
  const page = (await (await service.fetch(`/v1/usage?limit=${limit}`, { headers })).json()) as {
    data: Record<string, unknown>[];
  };
  return page.data;
}

/**
 * Starts to watch the usage rows. The returned function waits until a request since then is recorded as cancelled, which follows
 * the end of its inference.
 */
async function watchCancellation(): Promise<() => Promise<void>> {
  const before = (await usageRows(1))[0]?.request_id;
  return async () => {
    const added = async () => {
      const [row] = await usageRows(1);
      return row?.request_id === before ? undefined : row?.status;
    };
    await expect.poll(added).toBe('cancelled');
  };
}

/** A paused synthesis runs no step for this time. */
const PAUSED_MS = 500;

/** Waits until a count does not change any more. */
async function settled(read: () => Promise<number>): Promise<number> {
  let last = await read();
  for (;;) {
    await Bun.sleep(PAUSED_MS);
    const now = await read();
    if (now === last) return now;
    last = now;
  }
}

describe('the official SDK', () => {
  const client = () => new OpenAI({ apiKey: SERVICE_KEY, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
  // The SDK's types require a voice; the API does not.
  const params = (fields: object): OpenAI.Audio.SpeechCreateParams =>
    JSON.parse(JSON.stringify({ model: 'svc-tts', input: HELLO, ...fields }));

  test('returns a complete wav file', async () => {
    const response = await client().audio.speech.create(params({ input: SHORT }));
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(Number(response.headers.get('content-length'))).toBe(bytes.length);
    expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
    expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
  });

  test('streams a text of several sentences', async () => {
    const response = await client().audio.speech.create(
      params({ input: STORY, response_format: 'pcm', stream_format: 'audio' }),
    );
    expect(response.headers.get('content-type')).toBe('audio/pcm');
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) {
      expect(chunk.length % 2).toBe(0);
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    expect(bytes.length / BYTES_PER_SECOND).toBeGreaterThan(4);
    spoken.set(spokenKey('svc-tts', STORY), Promise.resolve(samplesOf(bytes)));
  });

  test('sends the first windows of a long sentence before the others are synthesized', async () => {
    const before = await stepCount('kokoro');
    const response = await client().audio.speech.create(
      params({ input: LONG_SENTENCE, response_format: 'pcm' }),
    );
    const reader = response.body?.getReader();
    const first = (await reader?.read())?.value?.length ?? 0;
    const stepsUntilFirst = (await stepCount('kokoro')) - before;
    let bytes = first;
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      bytes += read.value.length;
    }
    const steps = (await stepCount('kokoro')) - before;
    expect(bytes / BYTES_PER_SECOND).toBeGreaterThan(9);
    // The text front end and a few windows, some of which ran during the metrics request.
    expect(steps).toBeGreaterThanOrEqual(7);
    expect(stepsUntilFirst).toBeLessThanOrEqual(steps / 2);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(bytes / 4);
  });

  test('sends events whose audio is that of the stream', async () => {
    const plain = await (await post({ response_format: 'pcm' })).bytes();
    const fields = { model: 'svc-tts-fast', response_format: 'pcm', stream_format: 'sse' };
    const response = await client().audio.speech.create(params(fields));
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const values = (await response.text())
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => JSON.parse(frame.replace(/^data: /, '')) as Record<string, unknown>);
    const audio = values.flatMap(({ type, audio }) =>
      type === 'speech.audio.delta' ? [Buffer.from(String(audio), 'base64')] : [],
    );
    expect(Buffer.concat(audio).equals(plain)).toBe(true);
    const tokens = Math.ceil((plain.length * 25) / BYTES_PER_SECOND);
    expect(values.at(-1)).toEqual({
      type: 'speech.audio.done',
      usage: { input_tokens: 10, output_tokens: tokens, total_tokens: 10 + tokens },
    });
    expect(await usageRows(1)).toMatchObject([{ status: 'completed', output_tokens: tokens }]);
  });

  test('throws its own error classes', async () => {
    const refused = client().audio.speech.create(params({ voice: 'alloy' }));
    await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(refused).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param: 'voice',
      requestID: expect.stringMatching(/^req_/),
    });
  });

  test('stops the synthesis when it cancels the stream', async () => {
    const cancellation = await watchCancellation();
    const response = await client().audio.speech.create(
      params({ input: STORY.repeat(10), response_format: 'pcm' }),
    );
    for await (const _ of response.body ?? []) break;
    await cancellation();
    expect((await usageRows(1))[0]).toMatchObject({ model: 'svc-tts' });
  });
});

test.each(['pcm', 'wav'].slice(0, repetitions(1, 2)))(
  'a form and a JSON body give the same %s bytes',
  async (response_format) => {
    const json = await (await post({ input: SHORT, response_format, speed: 1.1 })).bytes();
    const form = new FormData();
    const fields = {
      model: 'svc-tts-fast',
      input: SHORT,
      response_format,
      speed: '1.1',
      max_new_tokens: '9',
    };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const multipart = await post({}, { headers: { 'x-api-key': SERVICE_KEY }, body: form });
    expect(multipart.status).toBe(200);
    expect(Buffer.compare(await multipart.bytes(), json)).toBe(0);
  },
);

describe.each(['svc-tts', 'svc-tts-fast'])('the audio of %s', (model) => {
  test('has the duration, loudness and edges of speech', async () => {
    const samples = await speak(model, STORY);
    expect(samples.length / 24_000).toBeGreaterThan(4.5);
    expect(samples.length / 24_000).toBeLessThan(9);
    expect(loudnessDb(samples)).toBeGreaterThan(-32);
    expect(loudnessDb(samples)).toBeLessThan(-14);
    const { leadMs, trailMs } = silentEdges(samples, 24_000);
    expect(leadMs).toBeLessThan(250);
    expect(trailMs).toBeGreaterThan(20);
    expect(trailMs).toBeLessThan(600);
    expect(maxGapMs(samples, 24_000)).toBeLessThan(1000);
  });

  inDeepTier(() => {
    test('has no click that the same text synthesized as a whole lacks', async () => {
      const streamed = await speak(model, STORY);
      const wav = await (await post({ model, input: STORY })).bytes();
      const whole = samplesOf(wav.subarray(44));
      expect(streamed.length).toBe(whole.length);
      const worst = (samples: Float32Array) => {
        let ratio = 0;
        for (let at = 300; at < samples.length - 300; at += 1) {
          const bend = Math.abs((samples[at - 1] ?? 0) - 2 * (samples[at] ?? 0) + (samples[at + 1] ?? 0));
          // Only samples with a large second difference can be clicks.
          if (bend > 0.1) ratio = Math.max(ratio, clickRatio(samples, at));
        }
        return ratio;
      };
      expect(worst(streamed)).toBeLessThanOrEqual(Math.max(1.5, worst(whole) * 1.2));
    });

    test('has a duration proportional to the text', async () => {
      const [once, twice] = [await speak(model, PHRASE), await speak(model, PHRASE.repeat(2))];
      expect(twice.length / once.length).toBeGreaterThan(1.85);
      expect(twice.length / once.length).toBeLessThan(2.15);
    });
  });
});

describe('clients that disconnect', () => {
  test('stop the inference within one window of a stream', async () => {
    const cancellation = await watchCancellation();
    const controller = new AbortController();
    const response = await post(
      { model: 'svc-tts', input: STORY.repeat(20), response_format: 'pcm' },
      { signal: controller.signal },
    );
    await response.body?.getReader().read();
    // The first audio arrives long before the end of the synthesis.
    const atFirstAudio = await stepCount('kokoro');
    await expect.poll(() => stepCount('kokoro')).toBeGreaterThan(atFirstAudio);
    controller.abort();
    const before = await stepCount('kokoro');
    await cancellation();
    // The running step, and one that may start before the closed connection is noticed.
    expect((await stepCount('kokoro')) - before).toBeLessThanOrEqual(2);
  });

  test('stop the inference of a whole file', async () => {
    const cancellation = await watchCancellation();
    const controller = new AbortController();
    const started = await stepCount('kokoro');
    const response = post({ model: 'svc-tts', input: STORY.repeat(20) }, { signal: controller.signal });
    const rejected = expect(response).rejects.toThrow();
    await expect.poll(() => stepCount('kokoro')).toBeGreaterThan(started);
    controller.abort();
    await rejected;
    const before = await stepCount('kokoro');
    await cancellation();
    expect((await stepCount('kokoro')) - before).toBeLessThanOrEqual(2);
  });
});

// Synthesizes the minutes of audio that socket buffers hold.
inDeepTier(() => {
  test('a client that does not read pauses the synthesis', async () => {
    const body = JSON.stringify({
      model: 'svc-tts-fast',
      input: STORY.repeat(50).slice(0, 5000),
      response_format: 'pcm',
    });
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    socket.pause();
    socket.on('error', () => undefined);
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nhost: test\r\nauthorization: Bearer ${SERVICE_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const started = await stepCount('piper');
    await expect.poll(() => stepCount('piper')).toBeGreaterThan(started);
    await settled(() => stepCount('piper'));
    socket.destroy();
    await settled(() => stepCount('piper'));
    const row = (await usageRows(1))[0];
    // The text has more than 250 seconds; socket buffers hold some megabytes of them.
    expect(row).toMatchObject({ status: 'cancelled' });
    expect(Number(row?.audio_seconds)).toBeLessThan(200);
  });
});

const CONCURRENT = repetitions(14, 42);

test(`each of ${CONCURRENT} concurrent requests, some of them cancelled, gets its own audio`, async () => {
  const count = CONCURRENT;
  const cancelled = count / 7;
  const texts = Array.from({ length: 5 }, (_, at) => `Number ${'one two three four five'.split(' ')[at]}.`);
  const alone = await Promise.all(
    texts.map(async (input) => Buffer.from(await (await post({ input, response_format: 'pcm' })).bytes())),
  );
  const headers = { authorization: `Bearer ${OTHER_KEY}`, 'content-type': 'application/json' };
  const request = (input: string | undefined, init: RequestInit = {}) =>
    post(
      {},
      { headers, body: JSON.stringify({ model: 'svc-tts-fast', input, response_format: 'pcm' }), ...init },
    );
  const firstCompleted = Promise.withResolvers<void>();
  const complete = async (which: number) => {
    const response = await request(texts[which]);
    const bytes = Buffer.from(await response.bytes());
    firstCompleted.resolve();
    return response.status === 200 && bytes.equals(alone[which] ?? Buffer.of()) ? 'right' : 'wrong';
  };
  /** Requests minutes of audio and cancels long before the end. */
  const cancel = async (when: 'after the first audio' | 'possibly while queued') => {
    const controller = new AbortController();
    const response = request(STORY.repeat(50), { signal: controller.signal });
    if (when === 'after the first audio') await (await response).body?.getReader().read();
    else await firstCompleted.promise;
    controller.abort();
    return response.then(
      () => 'cancelled',
      () => 'cancelled',
    );
  };
  const outcomes = await Promise.all(
    Array.from({ length: count }, (_, at) => {
      if (at % 7 !== 3) return complete(at % texts.length);
      return cancel(at % 2 === 0 ? 'after the first audio' : 'possibly while queued');
    }),
  );
  const outcomeCount = (outcome: string) => outcomes.filter((other) => other === outcome).length;
  expect([outcomeCount('right'), outcomeCount('cancelled')]).toEqual([count - cancelled, cancelled]);
  await expect.poll(async () => (await usageRows(100, OTHER_KEY)).length).toBe(count);
  const statuses = (await usageRows(100, OTHER_KEY)).map(({ status }) => status).toSorted();
  expect(statuses).toEqual([
    ...new Array(cancelled).fill('cancelled'),
    ...new Array(count - cancelled).fill('completed'),
  ]);
});

test('a killed inference process fails only its own requests', async () => {
  const response = await post({ model: 'svc-tts', input: STORY.repeat(3), response_format: 'pcm' });
  const reader = response.body?.getReader();
  await reader?.read();
  for (const pid of childrenOf(service.pid, INFERENCE)) process.kill(pid, 'SIGKILL');
  const rest = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(rest()).rejects.toThrow();
  expect((await service.fetch('/healthz')).status).toBe(200);
  expect((await usageRows(1))[0]).toMatchObject({ status: 'failed', model: 'svc-tts' });
  // Waits for the new process.
  expect((await post({ input: SHORT })).status).toBe(200);
  expect((await service.fetch('/readyz')).status).toBe(200);
});

test('writes one usage row per request with the synthesized amounts', async () => {
  const response = await post({ input: 'One two three. Four five six.' });
  const bytes = (await response.bytes()).length - 44;
  expect((await usageRows(1))[0]).toMatchObject({
    endpoint: PATH,
    model: 'svc-tts-fast',
    status: 'completed',
    characters: 29,
    input_tokens: 8,
    audio_bytes: bytes,
    audio_seconds: bytes / BYTES_PER_SECOND,
    output_tokens: Math.ceil((bytes * 25) / BYTES_PER_SECOND),
    request_id: response.headers.get('x-request-id'),
  });
});

test('logs neither text nor keys', () => {
  expect(service.log().length).toBeGreaterThan(30);
  expect(service.output()).not.toMatch(/best of times|help you today|test-key-of/);
});
