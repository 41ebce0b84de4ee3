/** The three endpoints of the partner platform in the real process, with real models and a simulated platform. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type LaunchedService,
  launchService,
  NO_EMBEDDINGS,
  OTHER_KEY,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import { SimulatedCall } from '../../tools/simulate-call/call-simulator.ts';
import { type KeyHeader, keyHeaders } from '../../tools/simulate-call/call-simulator-platform.ts';
import { dialSlowly } from '../doubles/call-simulator-slow.ts';
import { shake } from '../harness/handshake.ts';
import { repetitions } from '../harness/tier.ts';

const CONFIG = `
[models."svc-tts"]
kind = "piper"
[models."svc-stt"]
kind = "whisper"
${NO_EMBEDDINGS}`;
const HEADERS: readonly KeyHeader[] = ['authorization', 'x-api-key', 'x-partner-secret'];
/** A turn ends with its first final transcript, because each text is one sentence. */
const NO_WAITS = { onPunctuation: 0, onNoPunctuation: 0, beforeSpeech: 0 };
const RATE_HZ = 16_000;

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService({ config: CONFIG, env: { PLUGINS: 'partner,responses' } });
});
afterAll(async () => {
  await service.stop();
});

const dial = () =>
  SimulatedCall.dial({ baseUrl: service.baseUrl, key: SERVICE_KEY, waits: NO_WAITS, maxTokens: 24 });

interface UsageRow {
  readonly transcript?: string;
  readonly status: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly characters?: number;
  readonly audio_bytes?: number;
}

/** Usage rows of an endpoint, newest first. */
async function rowsOf(endpoint: string, key = SERVICE_KEY): Promise<UsageRow[]> {
  const query = `limit=100&endpoint=${encodeURIComponent(endpoint)}`;
  const response = await service.fetch(`/v1/usage?${query}`, { headers: { 'x-api-key': key } });
  return ((await response.json()) as { data: UsageRow[] }).data;
}

/** Words in lower case. */
const words = (...texts: string[]) =>
  texts
    .join(' ')
    .toLowerCase()
    .match(/[a-z']+/g) ?? [];

describe('the API key', () => {
  const posts: readonly (readonly [string, object])[] = [
    [
      '/v1/voices/partner?model=svc-tts',
      { message: { type: 'voice-request', text: 'Yes.', sampleRate: 8000 } },
    ],
    [
      '/v1/chat/completions',
      { model: 'smollm2-135m-instruct', messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 2 },
    ],
  ];
  const post = ([path, body]: (typeof posts)[number], headers: Record<string, string>) =>
    service.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const socket = '/v1/transcribers/partner?model=svc-stt';

  it.each(HEADERS)('is accepted in the header %s by all endpoints', async (header) => {
    for (const each of posts) {
      const response = await post(each, keyHeaders(SERVICE_KEY, header));
      expect([each[0], response.status]).toEqual([each[0], 200]);
      await response.arrayBuffer();
    }
    const { status } = await shake(`${service.baseUrl}${socket}`, keyHeaders(SERVICE_KEY, header));
    expect(status).toBe(101);
  });

  it.each(HEADERS)('is rejected with 401 by all endpoints if invalid in the header %s', async (header) => {
    for (const each of posts) {
      const response = await post(each, keyHeaders('wrong', header));
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
    }
    const { status, body } = await shake(`${service.baseUrl}${socket}`, keyHeaders('wrong', header));
    expect([status, JSON.parse(body).error.code]).toEqual([401, 'invalid_api_key']);
  });

  it('is required by all endpoints', async () => {
    for (const each of posts) {
      const response = await post(each, {});
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: { code: 'missing_api_key' } });
    }
    const { status, body } = await shake(`${service.baseUrl}${socket}`, {});
    expect([status, JSON.parse(body).error.code]).toEqual([401, 'missing_api_key']);
  });

  it('is valid, but unknown models and missing upgrades are rejected', async () => {
    const headers = keyHeaders(SERVICE_KEY);
    const { status, body } = await shake(`${service.baseUrl}/v1/transcribers/partner?model=other`, headers);
    expect([status, JSON.parse(body).error.code]).toEqual([400, 'model_not_found']);
    expect((await service.fetch('/v1/transcribers/partner', { headers })).status).toBe(426);
  });
});

describe('a turn with nothing to speak', () => {
  const turn = (text: string) =>
    service.fetch('/v1/voices/partner?model=svc-tts', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...keyHeaders(SERVICE_KEY) },
      body: JSON.stringify({ message: { type: 'voice-request', text, sampleRate: 8000 } }),
    });

  it.each(['…', '—', '👍', '**', '!?', '\u200b'])(
    'is answered with empty audio and not billed: %j',
    async (text) => {
      const before = (await rowsOf('POST /v1/voices/partner')).length;
      const response = await turn(text);
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'application/octet-stream',
      ]);
      expect((await response.bytes()).length).toBe(0);
      expect(await rowsOf('POST /v1/voices/partner')).toHaveLength(before);
    },
  );
});

describe('a call', () => {
  it('is transcribed, answered and spoken, with usage rows for each endpoint', async () => {
    const call = await dial();
    try {
      const turn = await call.turn(await call.voiceOf('Do you have a table for four people tonight?'));
      expect(words(turn.transcript)).toEqual(expect.arrayContaining(['table', 'four', 'people', 'tonight']));
      expect(turn.transcript).toMatch(/[.!?]$/);
      expect(turn.reply).not.toBe('');
      expect(call.errors).toEqual([]);
      const [transcription] = await rowsOf('POST /v1/transcribers/partner');
      expect(transcription).toMatchObject({ status: 'completed', transcript: turn.transcript });
      expect(transcription?.input_tokens).toBeGreaterThan(5);
      expect(transcription?.output_tokens).toBeGreaterThan(5);
      const [speech] = await rowsOf('POST /v1/voices/partner');
      expect(speech?.characters).toBeGreaterThan(0);
      expect(speech?.audio_bytes).toBeGreaterThan(1000);
      const [completion] = await rowsOf('POST /v1/chat/completions');
      expect(completion?.output_tokens).toBeGreaterThan(0);
      expect(await rowsOf('POST /v1/transcribers/partner', OTHER_KEY)).toEqual([]);
    } finally {
      call.hangUp();
    }
  });

  it('has no words of the assistant channel in its transcript', async () => {
    const call = await dial();
    try {
      const turns = repetitions(1, 2);
      const lines = ['We would like to sit near the window.', 'My brother will come a little later.'].slice(
        0,
        turns,
      );
      const voices = await Promise.all(lines.map((line) => call.voiceOf(line)));
      const assistant = await call.voiceOf('Purple elephants juggle seventeen bananas.');
      for (const [at, voice] of voices.entries()) {
        void call.assistantSays(assistant);
        await call.customerSays(voice);
        await call.finals(at + 1);
        // Speech of the assistant alone, longer than the silence that ends a turn.
        await call.assistantSays(assistant);
      }
      const transcribed = words(...call.messages.map(({ transcription = '' }) => transcription));
      expect(transcribed).toEqual(expect.arrayContaining(['window', 'brother'].slice(0, turns)));
      for (const word of ['purple', 'elephants', 'juggle', 'seventeen', 'bananas']) {
        expect(transcribed).not.toContain(word);
      }
      expect(call.messages.every(({ channel }) => channel === 'customer')).toBe(true);
      expect(call.transcripts).toHaveLength(turns);
    } finally {
      call.hangUp();
    }
  });

  it('that disconnects during a turn has a usage row with the transcript', async () => {
    const before = (await rowsOf('POST /v1/transcribers/partner')).length;
    const call = await dial();
    const voice = await call.voiceOf('Please call me back at the office tomorrow morning.');
    await call.customerSays(voice.subarray(0, Math.floor(voice.length * 0.8)));
    call.drop();
    await expect.poll(async () => (await rowsOf('POST /v1/transcribers/partner')).length).toBe(before + 1);
    const [row] = await rowsOf('POST /v1/transcribers/partner');
    expect(row?.status).toBe('completed');
    expect(words(row?.transcript ?? '')).toEqual(expect.arrayContaining(['call', 'me', 'back']));
  });

  it('is transcribed while the platform does not read, and can be read later', async () => {
    const before = (await rowsOf('POST /v1/transcribers/partner')).length;
    const voices = await dial();
    const voice = await voices.voiceOf('The garden is lovely in the spring.');
    voices.hangUp();
    const slow = await dialSlowly(service.baseUrl, SERVICE_KEY);
    slow.send(JSON.stringify({ type: 'start', sampleRate: RATE_HZ, channels: 1 }));
    slow.send(new Uint8Array(voice.buffer, voice.byteOffset, voice.byteLength));
    slow.send(new Uint8Array(RATE_HZ * 2));
    await expect.poll(async () => (await rowsOf('POST /v1/transcribers/partner')).length).toBe(before + 1);
    expect(words(await slow.read('"final"'))).toEqual(expect.arrayContaining(['garden', 'spring']));
    slow.close();
  });
});

describe('bun run simulate-call', () => {
  const simulate = async (...args: string[]) => {
    const script = join(import.meta.dirname, '../../scripts/simulate-call.ts');
    const child = Bun.spawn([process.execPath, script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [output, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, output, errors };
  };

  it('simulates a call and prints its latencies', async () => {
    const { code, output, errors } = await simulate(
      '--url',
      service.baseUrl,
      '--key',
      SERVICE_KEY,
      '--turns',
      '1',
    );
    expect(errors).toBe('');
    expect(output).toMatch(/end of speech → final transcript +\d+ ms/);
    expect(code).toBe(0);
  });

  const INVALID = [[['--key', 'k', '--turns', '0']], [[]], [['--unknown']]];
  it.each(INVALID.slice(0, repetitions(1, INVALID.length)))('prints its usage: %j', async (args) => {
    const { code, errors } = await simulate(...args);
    expect([code, errors.split('\n', 1)[0]]).toEqual([
      2,
      expect.stringMatching(/^Usage: bun run simulate-call/),
    ]);
  });
});

it('/metrics counts calls and their turns', async () => {
  const metrics = async () => (await service.fetch('/metrics')).text();
  // The calls of other tests may still be closing.
  await expect.poll(metrics).toMatch(/^partner_open_calls 0$/m);
  const page = await metrics();
  expect(page).toMatch(/^partner_turns_total\{status="completed"\} [1-9]/m);
  expect(page).toMatch(/^partner_final_seconds_count [1-9]/m);
});

it('a call receives its last turn when the service shuts down, then close code 1001', async () => {
  const call = await dial();
  const voice = await call.voiceOf('We are going to the market in the afternoon.');
  await call.customerSays(voice.subarray(0, Math.floor(voice.length * 0.9)));
  service.signal('SIGTERM');
  expect(await call.closed).toBe(1001);
  call.hangUp();
  expect(words(...call.transcripts)).toEqual(expect.arrayContaining(['going', 'market']));
  expect(await service.exited).toBe(0);
});

it('the log has no words of the calls', () => {
  const log = service.output().toLowerCase();
  for (const word of ['table for', 'window', 'brother', 'garden', 'elephants', 'market'])
    expect(log).not.toContain(word);
});
