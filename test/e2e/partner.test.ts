/** The partner platform's three endpoints of the real service, with real models and a simulated platform. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type LaunchedService,
  launchService,
  OTHER_KEY,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import { SimulatedCall } from '../../tools/simulate-call/call-simulator.ts';
import { type KeyHeader, keyHeaders } from '../../tools/simulate-call/call-simulator-platform.ts';
import { dialSlowly } from '../doubles/call-simulator-slow.ts';
import { shake } from '../harness/handshake.ts';

const CONFIG = `
[models."svc-tts"]
kind = "piper"
[models."svc-stt"]
kind = "whisper"
`;
const HEADERS: readonly KeyHeader[] = ['authorization', 'x-api-key', 'x-partner-secret'];
/** A turn is over with its first final: the texts here are one sentence. */
const NO_WAITS = { onPunctuation: 0, onNoPunctuation: 0, beforeSpeech: 0 };
const RATE_HZ = 16_000;

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService({ config: CONFIG });
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

/** Newest first. */
async function rowsOf(endpoint: string, key = SERVICE_KEY): Promise<UsageRow[]> {
  const query = `limit=100&endpoint=${encodeURIComponent(endpoint)}`;
  const response = await service.fetch(`/v1/usage?${query}`, { headers: { 'x-api-key': key } });
  return ((await response.json()) as { data: UsageRow[] }).data;
}

/** The words of texts, in small letters. */
const words = (...texts: string[]) =>
  texts
    .join(' ')
    .toLowerCase()
    .match(/[a-z']+/g) ?? [];

describe('the key', () => {
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

  it.each(HEADERS)('comes in the header %s, to all three', async (header) => {
    for (const each of posts) {
      const response = await post(each, keyHeaders(SERVICE_KEY, header));
      expect([each[0], response.status]).toEqual([each[0], 200]);
      await response.arrayBuffer();
    }
    const { status } = await shake(`${service.baseUrl}${socket}`, keyHeaders(SERVICE_KEY, header));
    expect(status).toBe(101);
  });

  it.each(HEADERS)(
    'that is wrong in the header %s is a 401 of all three, before any upgrade',
    async (header) => {
      for (const each of posts) {
        const response = await post(each, keyHeaders('wrong', header));
        expect(response.status).toBe(401);
        expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
      }
      const { status, body } = await shake(`${service.baseUrl}${socket}`, keyHeaders('wrong', header));
      expect([status, JSON.parse(body).error.code]).toEqual([401, 'invalid_api_key']);
    },
  );

  it('that is missing is a 401 of all three, before any upgrade', async () => {
    for (const each of posts) {
      const response = await post(each, {});
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: { code: 'missing_api_key' } });
    }
    const { status, body } = await shake(`${service.baseUrl}${socket}`, {});
    expect([status, JSON.parse(body).error.code]).toEqual([401, 'missing_api_key']);
  });

  it('that is right opens no address that is wrong', async () => {
    const headers = keyHeaders(SERVICE_KEY);
    const { status, body } = await shake(`${service.baseUrl}/v1/transcribers/partner?model=other`, headers);
    expect([status, JSON.parse(body).error.code]).toEqual([400, 'model_not_found']);
    expect((await service.fetch('/v1/transcribers/partner', { headers })).status).toBe(426);
  });
});

describe('a call', () => {
  it('is transcribed, answered and spoken, and each part has its rows', async () => {
    const call = await dial();
    try {
      const turn = await call.turn(await call.voiceOf('Do you have a table for four people tonight?'));
      expect(words(turn.transcript)).toEqual(expect.arrayContaining(['table', 'four', 'people', 'tonight']));
      expect(turn.transcript).toMatch(/[.!?]$/);
      expect(turn.reply).not.toBe('');
      expect(turn.answerMs).toBeLessThan(30_000);
      expect(call.errors).toEqual([]);
      const [heard] = await rowsOf('POST /v1/transcribers/partner');
      expect(heard).toMatchObject({ status: 'completed', transcript: turn.transcript });
      expect(heard?.input_tokens).toBeGreaterThan(5);
      expect(heard?.output_tokens).toBeGreaterThan(5);
      const [spoken] = await rowsOf('POST /v1/voices/partner');
      expect(spoken?.characters).toBeGreaterThan(0);
      expect(spoken?.audio_bytes).toBeGreaterThan(1000);
      const [written] = await rowsOf('POST /v1/chat/completions');
      expect(written?.output_tokens).toBeGreaterThan(0);
      expect(await rowsOf('POST /v1/transcribers/partner', OTHER_KEY)).toEqual([]);
    } finally {
      call.hangUp();
    }
  });

  it('has no word of the assistant in it, however much it speaks', async () => {
    const call = await dial();
    try {
      const lines = ['We would like to sit near the window.', 'My brother will come a little later.'];
      const voices = await Promise.all(lines.map((line) => call.voiceOf(line)));
      const assistant = await call.voiceOf(
        'Purple elephants dance happily. Seventeen bananas juggle gracefully.',
      );
      for (const [at, voice] of voices.entries()) {
        void call.assistantSays(assistant);
        await call.customerSays(voice);
        await call.finals(at + 1);
        // Alone, and longer than a turn takes to end.
        await call.assistantSays(assistant);
      }
      const said = words(...call.messages.map(({ transcription = '' }) => transcription));
      expect(said).toEqual(expect.arrayContaining(['window', 'brother', 'later']));
      for (const word of ['purple', 'elephants', 'seventeen', 'bananas', 'juggle', 'gracefully']) {
        expect(said).not.toContain(word);
      }
      expect(call.messages.every(({ channel }) => channel === 'customer')).toBe(true);
      expect(call.transcripts).toHaveLength(2);
    } finally {
      call.hangUp();
    }
  });

  it('that drops in the middle of a turn has a row of what was said', async () => {
    const before = (await rowsOf('POST /v1/transcribers/partner')).length;
    const call = await dial();
    const voice = await call.voiceOf('Please call me back at the office tomorrow morning.');
    void call.customerSays(voice);
    await Bun.sleep((voice.length / RATE_HZ) * 800);
    call.drop();
    await expect
      .poll(async () => (await rowsOf('POST /v1/transcribers/partner')).length, { timeout: 60_000 })
      .toBe(before + 1);
    const [row] = await rowsOf('POST /v1/transcribers/partner');
    expect(row?.status).toBe('completed');
    expect(words(row?.transcript ?? '')).toEqual(expect.arrayContaining(['call', 'me', 'back']));
  });

  it('of a platform that does not read is transcribed all the same, and read later', async () => {
    const before = (await rowsOf('POST /v1/transcribers/partner')).length;
    const voices = await dial();
    const voice = await voices.voiceOf('The garden is lovely in the spring.');
    voices.hangUp();
    const slow = await dialSlowly(service.baseUrl, SERVICE_KEY);
    slow.send(JSON.stringify({ type: 'start', sampleRate: RATE_HZ, channels: 1 }));
    slow.send(new Uint8Array(voice.buffer, voice.byteOffset, voice.byteLength));
    slow.send(new Uint8Array(RATE_HZ * 2));
    await expect
      .poll(async () => (await rowsOf('POST /v1/transcribers/partner')).length, { timeout: 60_000 })
      .toBe(before + 1);
    expect(words(await slow.read('"final"'))).toEqual(expect.arrayContaining(['garden', 'spring']));
    slow.close();
  });

  it('receives its last turn when the service stops, and then the end', async () => {
    const other = await launchService({ config: CONFIG });
    try {
      const call = await SimulatedCall.dial({ baseUrl: other.baseUrl, key: SERVICE_KEY });
      const voice = await call.voiceOf('We are going to the market in the afternoon.');
      void call.customerSays(voice);
      await Bun.sleep((voice.length / RATE_HZ) * 900);
      other.signal('SIGTERM');
      expect(await call.closed).toBe(1001);
      call.hangUp();
      expect(words(...call.transcripts)).toEqual(expect.arrayContaining(['going', 'market']));
      expect(await other.exited).toBe(0);
    } finally {
      await other.stop();
    }
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

  it('plays a call and tells its latencies', async () => {
    const { code, output, errors } = await simulate(
      '--url',
      service.baseUrl,
      '--key',
      SERVICE_KEY,
      '--turns',
      '1',
    );
    expect(errors).toBe('');
    expect(output).toMatch(/last word → final +\d+ ms/);
    expect(code).toBe(0);
  });

  it.each([[[]], [['--key', 'k', '--turns', '0']], [['--unknown']]])('prints its usage: %j', async (args) => {
    const { code, errors } = await simulate(...args);
    expect([code, errors.split('\n', 1)[0]]).toEqual([
      2,
      expect.stringMatching(/^Usage: bun run simulate-call/),
    ]);
  });
});

it('/metrics counts calls and their turns', async () => {
  const page = await (await service.fetch('/metrics')).text();
  expect(page).toMatch(/^partner_open_calls 0$/m);
  expect(page).toMatch(/^partner_turns_total\{status="completed"\} [1-9]/m);
  expect(page).toMatch(/^partner_final_seconds_count [1-9]/m);
});

it('nothing that was said is in the log', () => {
  const log = service.output().toLowerCase();
  for (const word of ['table for', 'window', 'brother', 'garden', 'elephants'])
    expect(log).not.toContain(word);
});
