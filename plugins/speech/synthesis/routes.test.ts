import { afterEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import type { TtsEngine } from '../../../src/contract/engines/engine.ts';
import { bind } from '../../../src/http/route.ts';
import type { ByteBudget } from '../../../src/kit/limits/byte-budget.ts';
import { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { FakeAudioEncoder, type FakeEncoderOptions } from '../../../test/doubles/fake-audio-encoder.ts';
import { fakeLexicons } from '../../../test/doubles/fake-lexicons.ts';
import { FakeTtsEngine, type FakeTtsOptions } from '../../../test/doubles/fake-tts-engine.ts';
import { type TestApp, testApp } from '../../../test/harness/test-app.ts';
import { spokenVoice } from '../../../test/media/spoken-voice.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { speechRoutes } from './routes.ts';
import { SpeechResponder } from './speech-responder.ts';
import { wavBudget } from './wav-body.ts';

const PATH = '/v1/audio/speech';
let apps: TestApp[] = [];
afterEach(() => {
  for (const app of apps) app.close();
  apps = [];
});

const ANNA = spokenVoice({ id: 'tts-vc-voice_a' });

/** The routes over a scripted engine, in the real app. */
function setUp(
  options: FakeTtsOptions = {},
  limits: {
    maxWavS?: number;
    wavs?: ByteBudget;
    perOrganization?: number;
    encoder?: FakeEncoderOptions;
  } & RecordedCallsOptions = {},
) {
  const { maxWavS, wavs = wavBudget(), perOrganization = 100 } = limits;
  const engine = new FakeTtsEngine(options);
  const compatible = Object.assign(new FakeTtsEngine(options), { compatibility: 'openai' as const });
  const encoder = new FakeAudioEncoder(limits.encoder);
  const engines = new Map<string, TtsEngine>([
    ['svc-tts', engine],
    ['tts-1', compatible],
  ]);
  const tts = { ids: [...engines.keys()], get: (id: string) => engines.get(id) };
  const calls = new RecordedCalls(limits);
  const log = new RecordingLogger();
  const requests = new SpeechRequests({
    endpoint: '/v1/audio/speech',
    tts,
    calls,
    clock: new ManualClock(),
    requestsPerOrganization: perOrganization,
    voices: {
      find: async (id, organization) => (id === ANNA.id && organization === 'a' ? ANNA : undefined),
      findSimilar: async () => ANNA.id,
    },
    lexicons: fakeLexicons(),
  });
  const responder = new SpeechResponder({
    requests,
    encoder,
    log,
    whole: wavs,
    ...(maxWavS !== undefined && { maxWavS }),
  });
  const app = testApp({ routes: [bind(speechRoutes(5000), { tts, requests, responder })] });
  apps.push(app);
  const headers = { 'x-api-key': 'key-of-a', 'content-type': 'application/json' };
  return {
    engine,
    compatible,
    encoder,
    calls,
    rows: calls.rows,
    log,
    requests,
    app,
    post: (fields: object, signal?: AbortSignal, key = 'key-of-a') =>
      app.send(PATH, {
        method: 'POST',
        headers: { ...headers, 'x-api-key': key },
        body: JSON.stringify({ model: 'svc-tts', input: 'One.', ...fields }),
        ...(signal ? { signal } : {}),
      }),
    postForm: (fields: Record<string, string | Blob>) => {
      const body = new FormData();
      for (const [name, value] of Object.entries({ model: 'svc-tts', input: 'One.', ...fields })) {
        body.append(name, value);
      }
      return app.send(PATH, { method: 'POST', headers: { 'x-api-key': 'key-of-a' }, body });
    },
  };
}

/** The values of an event stream. */
const valuesOf = (stream: string) =>
  [...stream.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as Record<string, unknown>);
const audioOf = (values: readonly Record<string, unknown>[]) =>
  Buffer.concat(
    values
      .filter(({ type }) => type === 'speech.audio.delta')
      .map(({ audio }) => Buffer.from(String(audio), 'base64')),
  );

describe('wav', () => {
  it('is complete, with a correct header and length', async () => {
    const { post } = setUp({ runs: () => [[0.5], [-0.5, 0]] });
    const response = await post({ input: 'One. Two.' });
    expect(response.headers.get('content-type')).toBe('audio/wav');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.subarray(0, 4).toString()).toBe('RIFF');
    expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
    expect(bytes.readUInt32LE(24)).toBe(24_000);
    expect(bytes.readUInt32LE(40)).toBe(12);
    expect([
      ...new Int16Array(bytes.buffer.slice(bytes.byteOffset + 44, bytes.byteOffset + bytes.length)),
    ]).toEqual([16384, -16384, 0, 16384, -16384, 0]);
  });

  it('is synthesized with delivery `whole`, pcm with `stream`', async () => {
    const { engine, post } = setUp();
    await post({});
    await (await post({ response_format: 'pcm' })).arrayBuffer();
    expect(engine.requests.map(({ delivery, priority }) => [delivery, priority])).toEqual([
      ['whole', 'interactive'],
      ['stream', 'interactive'],
    ]);
  });

  it('has a maximum length', async () => {
    const { rows, engine, post } = setUp(
      { runs: () => new Array(20).fill(new Array(2400).fill(0.1)) },
      { maxWavS: 1 },
    );
    const response = await post({});
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'input' } });
    expect(engine.runsMade).toBeLessThan(13);
    // Work was done, so the row exists; its status is not `cancelled`, because the client did not disconnect.
    expect(rows).toMatchObject([{ status: 'failed', audioSeconds: 1.1 }]);
  });
});

describe('the memory of wav responses', () => {
  const CHUNK_BYTES = 400_000;
  const runs = () => new Array(3).fill(new Array(CHUNK_BYTES / 2).fill(0.1));

  it('is limited per key until they are read', async () => {
    const wavs = wavBudget({ bytesPerKey: 5 * CHUNK_BYTES, totalBytes: 100 * CHUNK_BYTES });
    const { post, rows } = setUp({ runs }, { wavs });
    const unread = await post({});
    expect(wavs.bytes).toBe(3 * CHUNK_BYTES);
    const rejected = await post({});
    expect(rejected.status).toBe(503);
    expect(await rejected.json()).toMatchObject({
      error: { code: 'server_overloaded', message: expect.stringContaining("use 'pcm'") },
    });
    // The audio that was produced is paid.
    expect(rows).toMatchObject([{ status: 'completed' }, { status: 'failed', audioBytes: 3 * CHUNK_BYTES }]);
    expect(wavs.bytes).toBe(3 * CHUNK_BYTES);
    await unread.arrayBuffer();
    await expect.poll(() => wavs.bytes).toBe(0);
    expect((await post({})).status).toBe(200);
  });

  it('is limited in total', async () => {
    const wavs = wavBudget({ bytesPerKey: 5 * CHUNK_BYTES, totalBytes: 5 * CHUNK_BYTES });
    const { post } = setUp({ runs }, { wavs });
    const unread = await post({});
    expect((await post({}, undefined, 'key-of-b')).status).toBe(503);
    await unread.body?.cancel();
    await expect.poll(() => wavs.bytes).toBe(0);
    expect((await post({}, undefined, 'key-of-b')).status).toBe(200);
  });
});

describe('events', () => {
  it.each(['wav', 'pcm'])(
    '%s: their audio is that of the response without events',
    async (response_format) => {
      const { post, postForm, rows } = setUp();
      const plain = await (await post({ response_format, input: 'One. Two.' })).bytes();
      const fields = { response_format, input: 'One. Two.', stream_format: 'sse' };
      for (const response of [await post(fields), await postForm(fields)]) {
        expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
        const values = valuesOf(await response.text());
        expect(audioOf(values).equals(plain)).toBe(true);
        expect(values.at(-1)).toEqual({
          type: 'speech.audio.done',
          usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 },
        });
      }
      const { requestId: _, ...row } = rows[0] ?? { requestId: undefined };
      expect(rows).toMatchObject([row, row, row]);
      expect(row).toMatchObject({ status: 'completed', inputTokens: 3, outputTokens: 5 });
    },
  );

  it('have at most 32 KiB of audio', async () => {
    const { post } = setUp({ runs: () => [new Array(24_000).fill(0.1)] });
    const response = await post({ response_format: 'pcm', stream_format: 'sse' });
    const values = valuesOf(await response.text());
    expect(values.map(({ audio }) => Buffer.from(String(audio ?? ''), 'base64').length)).toEqual([
      32_768, 15_232, 0,
    ]);
  });

  it('are streamed while the next chunk is synthesized', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, rows } = setUp({
      runs: () => [[0.5], [0.25]],
      before: (_, run) => (run === 1 ? gate.promise : undefined),
    });
    const response = await post({ response_format: 'pcm', stream_format: 'sse' });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('data: {"type":"speech.audio.delta","audio":"AEA="}\n\n');
    expect(rows).toEqual([]);
    gate.resolve();
    expect((await reader?.read())?.value).toBe('data: {"type":"speech.audio.delta","audio":"ACA="}\n\n');
    expect((await reader?.read())?.value).toContain('speech.audio.done');
    expect(rows).toHaveLength(1);
    expect((await reader?.read())?.done).toBe(true);
  });

  it('end with an error after a failure, which is logged', async () => {
    const { post, rows, log } = setUp({
      failure: () => new ServiceError('upstream', 'Gone.', { code: 'upstream_error' }),
    });
    const response = await post({ response_format: 'pcm', stream_format: 'sse' });
    expect(response.status).toBe(200);
    const stream = await response.text();
    expect(stream).toContain('\n\nevent: error\ndata: {"error":{"message":"Gone."');
    expect(stream).not.toContain('speech.audio.done');
    expect(rows).toMatchObject([{ status: 'failed', audioBytes: 4800 }]);
    expect(log.lines).toMatchObject([{ message: 'speech synthesis failed in its stream' }]);
  });

  it.each<[string, FakeTtsOptions, object, number]>([
    [
      'before the first audio',
      { runs: () => [], failure: () => new ServiceError('overloaded', 'Full.') },
      {},
      503,
    ],
    [
      'of a wav after some audio',
      { failure: () => new ServiceError('upstream', 'Gone.') },
      { response_format: 'wav' },
      502,
    ],
    ['of a text without speakable text', { runs: () => [] }, {}, 400],
    ['of an unsupported format', {}, { response_format: 'mp3' }, 400],
  ])('are not started by a failure %s', async (_, options, fields, status) => {
    const { post } = setUp(options);
    const response = await post({ response_format: 'pcm', stream_format: 'sse', ...fields });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  it('stop the engine when the client disconnects', async () => {
    const { post, rows, engine, log } = setUp({ runs: () => new Array(100).fill([0.1]) });
    const response = await post({ response_format: 'pcm', stream_format: 'sse' });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(engine.leftEarly).toBe(1);
    expect(rows).toMatchObject([{ status: 'cancelled' }]);
    expect(log.lines).toEqual([]);
  });
});

describe('pcm', () => {
  it('is streamed while the next chunk is synthesized', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, rows } = setUp({
      runs: () => [[0.5], [0.25]],
      before: (_, run) => (run === 1 ? gate.promise : undefined),
    });
    const response = await post({ response_format: 'pcm' });
    expect(response.headers.get('content-type')).toBe('audio/pcm');
    expect(response.headers.get('content-length')).toBeNull();
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value).toEqual(Uint8Array.of(0, 0x40));
    expect(rows).toEqual([]);
    gate.resolve();
    expect((await reader?.read())?.value).toEqual(Uint8Array.of(0, 0x20));
    expect((await reader?.read())?.done).toBe(true);
    expect(rows).toHaveLength(1);
  });

  it('is aborted when the engine fails midway', async () => {
    const { post, rows } = setUp({ failure: () => new ServiceError('internal', 'crashed') });
    const response = await post({ response_format: 'pcm' });
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect(rows).toMatchObject([{ status: 'failed', audioBytes: 4800, audioSeconds: 0.1, outputTokens: 3 }]);
  });

  it('stops the engine when the client disconnects', async () => {
    const { post, rows, engine } = setUp({ runs: () => new Array(100).fill([0.1]) });
    const response = await post({ response_format: 'pcm' });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(engine.leftEarly).toBe(1);
    expect(engine.runsMade).toBeLessThan(5);
    expect(rows).toMatchObject([{ status: 'cancelled' }]);
  });
});

describe('a model with OpenAI compatibility', () => {
  const PCM = Buffer.from(new Int16Array(2400).fill(8192).buffer);
  const TYPES = {
    mp3: 'audio/mpeg',
    opus: 'audio/ogg',
    aac: 'audio/aac',
    flac: 'audio/flac',
    wav: 'audio/wav',
    pcm: 'audio/pcm',
  };

  it.each(Object.entries(TYPES))('has the format %s', async (response_format, type) => {
    const { post, compatible, encoder, rows } = setUp();
    const response = await post({ model: 'tts-1', response_format, input: 'One. Two.' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    const bytes = Buffer.from(await response.arrayBuffer());
    const samples = Buffer.concat([PCM, PCM]);
    if (response_format === 'pcm') expect(bytes.equals(samples)).toBe(true);
    else if (response_format === 'wav') {
      expect(bytes.subarray(44).equals(samples)).toBe(true);
      expect([bytes.toString('latin1', 0, 4), bytes.readUInt32LE(4), bytes.readUInt32LE(40)]).toEqual([
        'RIFF',
        0xffff_ffff,
        0xffff_ffff,
      ]);
    } else {
      const file = Buffer.concat([Buffer.from(response_format), samples, Buffer.from('end')]);
      expect(bytes.equals(file)).toBe(true);
    }
    expect(compatible.requests.map(({ delivery }) => delivery)).toEqual(['stream', 'stream']);
    expect(encoder.openCount).toBe(0);
    // The bill does not depend on the format.
    expect(rows).toMatchObject([{ status: 'completed', audioBytes: samples.length, audioSeconds: 0.2 }]);
  });

  it('has mp3 by default', async () => {
    const { post, postForm } = setUp();
    for (const response of [await post({ model: 'tts-1' }), await postForm({ model: 'tts-1' })]) {
      expect(response.headers.get('content-type')).toBe('audio/mpeg');
      await response.arrayBuffer();
    }
  });

  it.each(Object.keys(TYPES))('%s: the audio of its events is the file', async (response_format) => {
    const { post } = setUp();
    const fields = { model: 'tts-1', input: 'One. Two.', response_format };
    const plain = await (await post(fields)).bytes();
    const response = await post({ ...fields, stream_format: 'sse' });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const values = valuesOf(await response.text());
    expect(audioOf(values).equals(plain)).toBe(true);
    expect(values.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { output_tokens: 5 } });
  });

  it.each(['mp3', 'wav'])('%s is sent while the next chunk is synthesized', async (response_format) => {
    const gate = Promise.withResolvers<void>();
    const { post, rows, compatible } = setUp({
      runs: () => [[0.5], [0.25]],
      before: (_, run) => (run === 1 ? gate.promise : undefined),
    });
    const response = await post({ model: 'tts-1', response_format });
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value?.length).toBe(response_format === 'mp3' ? 5 : 46);
    expect([rows, compatible.runsMade]).toEqual([[], 1]);
    gate.resolve();
    expect((await reader?.read())?.value).toEqual(Uint8Array.of(0, 32));
    while (!(await reader?.read())?.done);
    expect(rows).toMatchObject([{ status: 'completed' }]);
  });

  it('sends the first bytes of an encoder that needs more samples', async () => {
    const { post } = setUp({ runs: () => [[0.5], [0.25]] }, { encoder: { delayChunks: 2 } });
    const response = await post({ model: 'tts-1' });
    expect((await response.bytes()).length).toBe('mp3'.length + 4 + 'end'.length);
  });

  it('stops the engine and the encoder when the client disconnects', async () => {
    const { post, rows, compatible, encoder } = setUp({ runs: () => new Array(100).fill([0.5]) });
    const response = await post({ model: 'tts-1' });
    await response.body?.cancel();
    await expect.poll(() => rows).toMatchObject([{ status: 'cancelled' }]);
    expect(compatible.runsMade).toBeLessThan(5);
    expect([compatible.leftEarly, encoder.openCount]).toEqual([1, 0]);
  });

  it('is synthesized at the pace of the client', async () => {
    const { post, compatible } = setUp({ runs: () => new Array(100).fill([0.5]) });
    const response = await post({ model: 'tts-1' });
    const reader = response.body?.getReader();
    await reader?.read();
    expect(compatible.runsMade).toBeLessThan(5);
    await reader?.cancel();
  });

  it.each(['opus', 'aac'])('answers 500 if the encoder fails before the first byte (%s)', async (format) => {
    const crash = new ServiceError('internal', 'The encoder failed.', { code: 'worker_crashed' });
    const { post, rows, encoder, compatible } = setUp(
      { runs: () => [[0.5], [0.5]] },
      { encoder: { failure: () => crash } },
    );
    const response = await post({ model: 'tts-1', response_format: format });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: { type: 'server_error', code: 'worker_crashed' } });
    expect(rows).toMatchObject([{ status: 'failed', audioBytes: 2 }]);
    expect([encoder.openCount, compatible.leftEarly]).toEqual([0, 1]);
  });

  it('aborts the body, or ends the events with an error, if the encoder fails later', async () => {
    const crash = new ServiceError('internal', 'The encoder failed.', { code: 'worker_crashed' });
    const { post, rows, encoder } = setUp(
      { runs: () => [[0.5], [0.5], [0.5]] },
      { encoder: { failure: (chunk) => (chunk === 1 ? crash : undefined) } },
    );
    const response = await post({ model: 'tts-1' });
    await expect(response.arrayBuffer()).rejects.toThrow();
    const events = await (await post({ model: 'tts-1', stream_format: 'sse' })).text();
    expect(events).toContain('"code":"worker_crashed"');
    expect(events).not.toContain('speech.audio.done');
    expect(rows).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
    expect(encoder.openCount).toBe(0);
  });

  it('rejects more encodings than the encoder allows, before synthesis', async () => {
    const { post, encoder, compatible, rows } = setUp({ runs: () => new Array(9).fill([0.5]) });
    const open: Response[] = [];
    while (encoder.openCount < encoder.maxOpen) open.push(await post({ model: 'tts-1' }));
    const synthesized = compatible.requests.length;
    expect((await post({ model: 'tts-1' })).status).toBe(503);
    expect([compatible.requests.length, rows]).toEqual([synthesized, []]);
    await Promise.all(open.map((response) => response.body?.cancel()));
    await expect.poll(() => encoder.openCount).toBe(0);
    await (await post({ model: 'tts-1' })).arrayBuffer();
  });

  it.each(['.', '… 🙂', '?!'])(
    'speaks silence for a text without words, which is free: %s',
    async (input) => {
      const { post, rows, encoder } = setUp({ runs: () => [] });
      const samples = Buffer.alloc(24_000);
      const pcm = await post({ model: 'tts-1', input, response_format: 'pcm' });
      expect([pcm.status, pcm.headers.get('content-type')]).toEqual([200, 'audio/pcm']);
      expect(samples.equals(await pcm.bytes())).toBe(true);
      const wav = await (await post({ model: 'tts-1', input, response_format: 'wav' })).bytes();
      expect(samples.equals(wav.subarray(44))).toBe(true);
      const mp3 = await (await post({ model: 'tts-1', input })).bytes();
      expect(Buffer.concat([Buffer.from('mp3'), samples, Buffer.from('end')]).equals(mp3)).toBe(true);
      const events = valuesOf(await (await post({ model: 'tts-1', input, stream_format: 'sse' })).text());
      expect(audioOf(events).equals(mp3)).toBe(true);
      expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { total_tokens: 0 } });
      expect([rows, encoder.openCount]).toEqual([[], 0]);
    },
  );

  it('releases the encoder if there is nothing to encode', async () => {
    const { post, encoder } = setUp({ runs: () => [] });
    expect((await post({ model: 'tts-1', input: '你好' })).status).toBe(400);
    expect((await post({ model: 'tts-1', voice: 'unknown' })).status).toBe(400);
    expect([encoder.opened.length, encoder.openCount]).toEqual([2, 0]);
  });
});

describe('the errors of a request', () => {
  const errorOf = async (response: Response) =>
    ((await response.json()) as { error: { message: string; param: string; code: string } }).error;

  it('are all in one message, in the order of the fields', async () => {
    const { post, rows } = setUp();
    const { message, param, code } = await errorOf(
      await post({ model: 'tts-9', input: '', voice: 'stranger', response_format: 'mp4' }),
    );
    expect([param, code]).toEqual(['model', 'model_not_found']);
    expect(message).toMatch(
      /^Unknown model 'tts-9'\..* 'input' must not be blank\. Unknown voice 'stranger'\..* 'response_format' must be one of "mp3", "opus", "aac", "flac", "wav", "pcm"\.$/,
    );
    expect(rows).toEqual([]);
  });

  it.each([
    [
      { model: 'tts-1', voice: 'stranger', response_format: 'mp4' },
      'voice',
      ['Unknown voice', 'one of "mp3"'],
    ],
    [{ voice: 'stranger', response_format: 'mp3' }, 'voice', ['Unknown voice', 'one of "wav", "pcm"']],
    [{ voice: 'stranger', speed: 9 }, 'voice', ['Unknown voice', "'speed' must be"]],
    [{ model: 'tts-9', speed: 9 }, 'model', ['Unknown model', "'speed' must be"]],
    [{ model: 'tts-9', voice: ANNA.id, speed: 9 }, 'model', ['Unknown model', "'speed' must be"]],
  ])('%j', async (fields, param, parts) => {
    const { post } = setUp();
    const error = await errorOf(await post(fields));
    expect(error.param).toBe(param);
    for (const part of parts) expect(error.message).toContain(part);
    expect(error.message.includes('Unknown voice')).toBe(parts.includes('Unknown voice'));
  });

  it('of a format name the formats of the model, and the models that have more', async () => {
    const { post } = setUp();
    for (const response_format of ['mp3', 'opus', 'aac', 'flac', 'WAV', 'ogg']) {
      expect(await errorOf(await post({ response_format }))).toMatchObject({
        message: `'response_format' must be one of "wav", "pcm". Models that also accept "mp3", "opus", "aac", "flac": tts-1.`,
        code: 'unsupported_value',
      });
    }
    const { message } = await errorOf(await post({ model: 'tts-1', response_format: 'MP3' }));
    expect(message).toBe(`'response_format' must be one of "mp3", "opus", "aac", "flac", "wav", "pcm".`);
  });

  it('alone have their own message', async () => {
    const { post } = setUp();
    expect(await errorOf(await post({ input: ' ' }))).toMatchObject({
      message: "'input' must not be blank.",
    });
    const { message } = await errorOf(await post({ voice: 'stranger' }));
    expect(message).toMatch(/^Unknown voice 'stranger'\..*lists your voices\.$/);
  });
});

describe('the idle timeout of the connection', () => {
  it('applies to a client that does not read, not to one that waits for audio', async () => {
    const events: string[] = [];
    const gates = [0, 1].map(() => Promise.withResolvers<void>());
    const { app, post } = setUp({
      runs: () => [[0.5], [0.25]],
      before: async (_, run) => {
        events.push(`work ${run}`);
        await gates[run]?.promise;
        events.push(`produced ${run}`);
      },
    });
    app.server.timeout = (_, seconds) => events.push(`${seconds} s`);
    const response = post({ response_format: 'pcm' });
    await expect.poll(() => events.at(-1)).toBe('work 0');
    gates[0]?.resolve();
    const reader = (await response).body?.getReader();
    await reader?.read();
    await expect.poll(() => events.at(-1)).toBe('work 1');
    expect(events.findLast((event) => event.endsWith(' s'))).toBe('0 s');
    gates[1]?.resolve();
    await reader?.read();
    expect((await reader?.read())?.done).toBe(true);
    expect(events.slice(events.indexOf('produced 1'))).toContain('120 s');
    expect(events.at(-1)).toBe('120 s');
  });
});

describe('a form', () => {
  it('returns the same bytes as JSON', async () => {
    const { post, postForm } = setUp();
    const json = await (await post({ speed: 1.5 })).bytes();
    const form = await (await postForm({ speed: '1.5' })).bytes();
    expect(form).toEqual(json);
  });

  it('passes instructions and the name of a voice of the model to the engine', async () => {
    const { post, engine } = setUp({ voices: ['alloy'] });
    expect((await post({ voice: ' alloy ', instructions: 'Whisper.' })).status).toBe(200);
    expect(engine.requests[0]).toMatchObject({ voiceName: 'alloy', instructions: 'Whisper.' });
    expect(engine.requests[0]?.voice).toBeUndefined();
    expect((await post({ voice: { id: ANNA.id } })).status).toBe(200);
    expect(engine.requests[1]).toMatchObject({ voice: ANNA });
    expect((await post({ voice: 'alto' })).status).toBe(400);
  });

  it('accepts a voice in brackets', async () => {
    const { postForm, engine } = setUp();
    expect((await postForm({ 'voice[id]': 'tts-vc-voice_a' })).status).toBe(200);
    expect(engine.requests[0]?.voice).toBe(ANNA);
  });

  it.each([
    ['a file as input', { input: new Blob(['One.']) }, 'input'],
    ['a cloning field', { x_vector_only_mode: 'false' }, 'x_vector_only_mode'],
    ['a speed that is not a number', { speed: 'fast' }, 'speed'],
  ])('is rejected with %s', async (_, fields, param) => {
    const { postForm, engine } = setUp();
    const response = await postForm(fields as Record<string, string | Blob>);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } });
    expect(engine.requests).toEqual([]);
  });

  it('is rejected with a repeated field', async () => {
    const { app } = setUp();
    const body = new FormData();
    for (const model of ['svc-tts', 'svc-tts']) body.append('model', model);
    const response = await app.send(PATH, { method: 'POST', body });
    expect(await response.json()).toMatchObject({ error: { param: 'model' } });
  });
});

it('passes the language on, also of a form', async () => {
  const { app, post, engine } = setUp({ languages: ['en-US', 'es'] });
  await post({ language: 'es' });
  const body = new FormData();
  for (const [name, value] of Object.entries({ model: 'svc-tts', input: 'Hola.', language: ' es ' }))
    body.append(name, value);
  await app.send(PATH, { method: 'POST', body });
  for (const language of ['', null, undefined]) await post({ language });
  expect(engine.requests.map(({ language }) => language)).toEqual([
    'es',
    'es',
    undefined,
    undefined,
    undefined,
  ]);
});

describe('rejections', () => {
  it.each([
    ['an unknown model', { model: 'tts-2' }, 'model', 'model_not_found'],
    ['a voice name of OpenAI', { voice: 'alloy' }, 'voice', 'voice_not_found'],
    ['an unknown voice as object', { voice: { id: 'tts-vc-voice_b' } }, 'voice', 'voice_not_found'],
    ['an unsupported language', { language: 'de' }, 'language', 'unsupported_value'],
    ['an unsupported format', { response_format: 'mp3' }, 'response_format', 'unsupported_value'],
  ])('%s: before synthesis and without a usage row', async (_, fields, param, code) => {
    const { post, engine, rows } = setUp({ languages: ['en-US', 'es'] });
    const response = await post(fields);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param, code } });
    expect(engine.requests).toEqual([]);
    expect(rows).toEqual([]);
  });

  it('text without speakable content', async () => {
    const { post, rows } = setUp({ runs: () => [] });
    for (const response_format of ['wav', 'pcm']) {
      const response = await post({ input: '… 🙂', response_format });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { param: 'input' } });
    }
    expect(rows).toEqual([]);
  });

  it.each(['text/plain', 'audio/wav', 'application/x-www-form-urlencoded'])(
    'a body of type %s',
    async (type) => {
      const { app } = setUp();
      const headers = { 'x-api-key': 'key-of-a', 'content-type': type };
      const response = await app.send(PATH, { method: 'POST', headers, body: 'input=One.' });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({
        error: { message: expect.stringContaining('multipart/form-data') },
      });
    },
  );

  it.each(['wav', 'pcm'])(
    'a failure before the first audio sets the HTTP status (%s)',
    async (response_format) => {
      const { post, rows } = setUp({
        runs: () => [],
        failure: () => new ServiceError('upstream', 'The speech engine failed.', { code: 'upstream_error' }),
      });
      const response = await post({ response_format });
      expect(response.status).toBe(502);
      expect(await response.json()).toMatchObject({
        error: { type: 'server_error', code: 'upstream_error' },
      });
      expect(rows).toMatchObject([{ status: 'failed', audioBytes: 0, outputTokens: 0 }]);
    },
  );

  it('a full queue: with retry-after and without a usage row', async () => {
    const { post, rows } = setUp({
      runs: () => [],
      failure: () => new ServiceError('overloaded', 'Full.', { retryAfterS: 2 }),
    });
    const response = await post({});
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(rows).toEqual([]);
  });
});

describe('the concurrency limit of an organization', () => {
  it('rejects further requests, does not affect others, and releases slots', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, rows, engine } = setUp({ before: () => gate.promise }, { perOrganization: 2 });
    const open = [post({}), post({ response_format: 'pcm' })];
    await expect.poll(() => engine.requests.length).toBe(2);

    const rejected = await post({});
    expect(rejected.status).toBe(429);
    expect(rejected.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await rejected.json()).toMatchObject({
      error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
    });
    expect(engine.requests).toHaveLength(2);

    const other = post({}, undefined, 'key-of-b');
    await expect.poll(() => engine.requests.length).toBe(3);
    gate.resolve();
    for (const response of [...open, other])
      expect((await (await response).bytes()).length).toBeGreaterThan(0);
    expect((await post({})).status).toBe(200);
    expect(rows.map(({ organization, status }) => `${organization} ${status}`).toSorted()).toEqual([
      'a completed',
      'a completed',
      'a completed',
      'b completed',
    ]);
  });
});

describe('usage', () => {
  it.each([
    [6720, 7],
    [960, 1],
    [961, 2],
    [24_000, 25],
    [1, 1],
  ])('counts %i samples as %i tokens', async (samples, outputTokens) => {
    const { post, rows } = setUp({ runs: () => [new Array(samples).fill(0.1)] });
    await post({});
    expect(rows).toMatchObject([{ outputTokens }]);
  });

  it('is one row with the synthesized audio for any number of sentences', async () => {
    const { post, rows } = setUp();
    const response = await post({ input: 'One. Two. 😀 Three.' });
    await response.arrayBuffer();
    expect(rows).toEqual([
      {
        endpoint: '/v1/audio/speech',
        organization: 'a',
        requestId: response.headers.get('x-request-id'),
        model: 'svc-tts',
        status: 'completed',
        characters: 18,
        inputTokens: 5,
        audioBytes: rows[0]?.audioBytes,
        audioSeconds: (rows[0]?.audioBytes ?? 0) / 48_000,
        outputTokens: Math.ceil(((rows[0]?.audioBytes ?? 0) * 25) / 48_000),
      },
    ]);
    expect(rows[0]?.audioBytes).toBeGreaterThanOrEqual(3 * 4800);
  });

  it('opens a call before the engine starts and reserves its maximum cost', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, engine, calls } = setUp({}, { opening: () => gate.promise });
    const response = post({ input: 'One. Two.', speed: 0.5 });
    // Long enough for an engine that does not wait.
    await new Promise((resolve) => setImmediate(resolve));
    expect(engine.requests).toEqual([]);
    gate.resolve();
    expect((await response).status).toBe(200);
    expect(calls.openings).toMatchObject([
      { maxUsage: { inputTokens: 3, outputTokens: 575, characters: 9, audioSeconds: 23 } },
    ]);
  });

  it('has no row if the credits do not cover the request', async () => {
    const { post, engine, rows } = setUp(
      {},
      {
        opening() {
          throw new ServiceError('insufficient_quota', 'This may cost 2 credits.', {
            code: 'insufficient_quota',
          });
        },
      },
    );
    for (const format of ['wav', 'pcm']) {
      const response = await post({ response_format: format });
      expect(response.status).toBe(429);
      expect(await response.json()).toEqual({
        error: {
          message: 'This may cost 2 credits.',
          type: 'insufficient_quota',
          param: null,
          code: 'insufficient_quota',
        },
      });
    }
    expect([engine.requests, rows]).toEqual([[], []]);
  });

  it.each<[string, FakeTtsOptions]>([
    ['without speakable text', { runs: () => [] }],
    ['that was rejected', { runs: () => [], failure: () => new ServiceError('overloaded', 'Full.') }],
    ['that failed', { failure: () => new Error('engine') }],
    ['that completed', {}],
  ])('closes the call of a request %s', async (_, options) => {
    const { post, calls } = setUp(options);
    await (await post({})).arrayBuffer();
    expect([calls.openings.length, calls.unended]).toEqual([1, 0]);
  });

  it('records a client that disconnects before the first audio', async () => {
    const controller = new AbortController();
    const { post, rows } = setUp({ before: () => controller.abort() });
    const response = await post({}, controller.signal);
    expect(response.status).toBe(499);
    expect(rows).toMatchObject([{ status: 'cancelled', audioBytes: 0 }]);
  });
});

describe('drain', () => {
  it('waits for running requests', async () => {
    const gate = Promise.withResolvers<void>();
    const { post, requests, engine } = setUp({ before: () => gate.promise });
    const response = post({});
    await expect.poll(() => engine.requests.length).toBe(1);
    let drained = false;
    const draining = requests.open.drain(new AbortController().signal).then(() => {
      drained = true;
    });
    await Promise.resolve();
    expect(drained).toBe(false);
    gate.resolve();
    await draining;
    expect((await response).status).toBe(200);
  });

  it('stops running requests at the deadline', async () => {
    const { post, requests, rows } = setUp({ runs: () => new Array(1000).fill([0.1]) });
    const response = await post({ response_format: 'pcm' });
    const draining = requests.open.drain(AbortSignal.abort());
    await expect(response.arrayBuffer()).rejects.toThrow();
    await draining;
    expect(rows).toMatchObject([{ status: 'cancelled' }]);
    // Resolves immediately.
    await requests.open.drain(new AbortController().signal);
  });
});

describe('OpenAPI', () => {
  it('documents both body types with an example', async () => {
    const { app } = setUp();
    const document = (await (await app.send('/swagger/json')).json()) as {
      paths: Record<
        string,
        { post: { requestBody: { content: Record<string, unknown> }; responses: Record<string, unknown> } }
      >;
    };
    const { requestBody, responses = {} } = document.paths[PATH]?.post ?? {};
    const { content = {} } = requestBody ?? {};
    expect(Object.keys(responses)).toEqual(['200', '400', '401', '413', '415', '429', '500', '502', '503']);
    expect(Object.keys(content)).toEqual(['application/json', 'multipart/form-data']);
    expect(content['application/json']).toMatchObject({
      schema: { required: ['model', 'input'], properties: { model: { examples: ['svc-tts'] } } },
    });
  });
});
