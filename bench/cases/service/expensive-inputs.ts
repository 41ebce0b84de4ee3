/** Latency of one organization on each endpoint while another one sends the most expensive inputs that are allowed. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wavFile } from '../../../tools/harness/media/wav-files.ts';
import { type LaunchedService, launchService } from '../../../tools/harness/services/launcher.ts';
import { type Flood, NUMBER } from '../../flood.ts';
import { type Row, report } from '../../report.ts';
import { quantile } from '../../statistics.ts';

const ATTACKER = 'key-of-the-organization-with-expensive-inputs';
const OTHER = 'key-of-another-organization';
/** Requests of the attacker at the same time. */
const CONCURRENT = 8;
const UNREAD = 100;
const ROUNDS = 20;
/** The attack has reached the queues and the models. */
const SETTLE_MS = 3000;
/** More than the longest inference step is not the fault of the attack. */
const ALLOWED_MS = 100;

const CHAT_MODEL = 'smollm2-135m-instruct';
const SENTENCE = 'Thank you, I will call you back in a moment.';
const WORDS = 'The quick brown fox jumps over the lazy dog and runs away. ';
const repeated = (characters: number) =>
  WORDS.repeat(Math.ceil(characters / WORDS.length)).slice(0, characters);

interface Request {
  readonly method?: 'GET';
  readonly path: string;
  readonly json?: object;
  readonly form?: () => FormData;
  readonly until: 'first bytes' | 'end';
}

const chat = (content: string, fields: object = {}) => ({
  model: CHAT_MODEL,
  messages: [{ role: 'user', content }],
  max_tokens: 8,
  temperature: 0,
  ...fields,
});

/** Requests of the other organization, by endpoint. */
function requests(shortWav: Uint8Array<ArrayBuffer>): Readonly<Record<string, Request>> {
  return {
    'GET /v1/models': { method: 'GET', path: '/v1/models', until: 'end' },
    'POST /v1/audio/speech': {
      path: '/v1/audio/speech',
      json: { model: 'svc-tts', input: SENTENCE, response_format: 'pcm' },
      until: 'first bytes',
    },
    'POST /v1/audio/transcriptions': {
      path: '/v1/audio/transcriptions',
      form: () => {
        const body = new FormData();
        body.append('model', 'svc-stt');
        body.append('file', new File([shortWav], 'short.wav'));
        return body;
      },
      until: 'end',
    },
    'POST /v1/chat/completions': {
      path: '/v1/chat/completions',
      json: chat('Name three birds.', { stream: true }),
      until: 'first bytes',
    },
    'POST /v1/responses': {
      path: '/v1/responses',
      json: { model: CHAT_MODEL, input: 'Name three birds.', max_output_tokens: 16, store: false },
      until: 'end',
    },
    'POST /v1/embeddings': {
      path: '/v1/embeddings',
      json: { model: 'all-minilm-l6-v2', input: SENTENCE },
      until: 'end',
    },
    'POST /v1/files': {
      path: '/v1/files',
      form: () => {
        const body = new FormData();
        body.append('purpose', 'batch');
        body.append('file', new File(['{}\n'], 'small.jsonl'));
        return body;
      },
      until: 'end',
    },
  };
}

type Attack = Omit<Flood, 'url' | 'key' | 'repeat'> & { readonly path: string };

async function attacks(folder: string): Promise<Readonly<Record<string, Attack>>> {
  const fileOf = async (name: string, content: Uint8Array<ArrayBuffer> | string) => {
    const path = join(folder, name);
    await Bun.write(path, content);
    return { path, name };
  };
  const recording = await fileOf(
    'longest.wav',
    wavFile({ kind: 'int', bits: 16, rateHz: 8000, channels: 1 }, noise(1500 * 8000)),
  );
  const upload = await fileOf('largest.jsonl', `${'x'.repeat(1023)}\n`.repeat(100 * 1024));
  const schema = {
    title: NUMBER,
    type: 'object',
    properties: Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [
        `field_${at}`,
        { type: 'array', items: { enum: manyWords(at) } },
      ]),
    ),
  };
  const json = (path: string, body: object, count = CONCURRENT): Attack => ({
    path,
    count,
    json: JSON.stringify(body),
  });
  return {
    'prompts that fill the context': json('/v1/chat/completions', chat(`${NUMBER} ${repeated(8000)}`)),
    'prompts of 7.9 MB': json('/v1/chat/completions', chat(repeated(7_900_000))),
    'texts of 5000 characters': json('/v1/audio/speech', {
      model: 'svc-tts',
      input: repeated(5000),
      response_format: 'pcm',
    }),
    'embeddings of 64 long texts': json('/v1/embeddings', {
      model: 'all-minilm-l6-v2',
      input: new Array(64).fill(repeated(1000)),
    }),
    'recordings of 25 minutes': {
      path: '/v1/audio/transcriptions',
      count: CONCURRENT,
      form: { model: 'svc-stt' },
      file: recording,
    },
    'schemas of 100 fields': json(
      '/v1/chat/completions',
      chat('Invent some data.', {
        max_tokens: 64,
        response_format: { type: 'json_schema', json_schema: { name: 'large', schema } },
      }),
    ),
    'uploads of 100 MiB': {
      path: '/v1/files',
      count: CONCURRENT,
      form: { purpose: 'batch' },
      file: upload,
    },
    'unread streams': {
      ...json(
        '/v1/audio/speech',
        { model: 'svc-tts', input: repeated(5000), response_format: 'pcm' },
        UNREAD,
      ),
      unread: true,
    },
  };
}

const manyWords = (at: number) => Array.from({ length: 20 }, (_, word) => `word_${at}_${word}`);

/** Noise, which is transcribed like speech. */
function noise(samples: number): Float32Array<ArrayBuffer> {
  const result = new Float32Array(samples);
  let state = 1;
  for (let at = 0; at < samples; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    result[at] = (state / 2 ** 31 - 1) * 0.1;
  }
  return result;
}

/** Sends one request of the other organization. @returns its latency in ms. */
async function latencyMs(service: LaunchedService, request: Request): Promise<number> {
  const { method = 'POST', path, json, form, until } = request;
  const startMs = performance.now();
  const response = await service.fetch(path, {
    method,
    headers: { 'x-api-key': OTHER, ...(json && { 'content-type': 'application/json' }) },
    ...(method === 'POST' && { body: json ? JSON.stringify(json) : form?.() }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  const reader = response.body?.getReader();
  await reader?.read();
  if (until === 'first bytes') {
    const elapsedMs = performance.now() - startMs;
    await reader?.cancel();
    return elapsedMs;
  }
  while (!(await reader?.read())?.done);
  return performance.now() - startMs;
}

/** The latencies of all requests in turn, sorted by endpoint. */
async function measure(
  service: LaunchedService,
  endpoints: Readonly<Record<string, Request>>,
): Promise<{ readonly latencies: Map<string, number[]>; readonly errors: string[] }> {
  const latencies = new Map<string, number[]>();
  const errors: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, request] of Object.entries(endpoints)) {
      const ms = await latencyMs(service, request).catch((error: Error) => {
        errors.push(error.message);
        return Number.POSITIVE_INFINITY;
      });
      latencies.set(name, [...(latencies.get(name) ?? []), ms]);
    }
  }
  return { latencies, errors };
}

/** The longest inference step of 99 % of all steps so far: the upper bound of its histogram bucket in ms. */
async function longestStepMs(service: LaunchedService): Promise<number> {
  const text = await (await service.fetch('/metrics')).text();
  const counts = new Map<number, number>();
  for (const [, le, count] of text.matchAll(/^inference_step_seconds_bucket\{.*le="([\d.]+)".*\} (\d+)/gm)) {
    counts.set(Number(le), (counts.get(Number(le)) ?? 0) + Number(count));
  }
  const bounds = [...counts].toSorted(([a], [b]) => a - b);
  const total = bounds.at(-1)?.[1] ?? 0;
  return 1000 * (bounds.find(([, count]) => count >= 0.99 * total)?.[0] ?? Number.NaN);
}

export async function benchExpensiveInputs(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'expensive-'));
  const service = await launchService({
    env: { API_KEYS: `${ATTACKER}:a,${OTHER}:b` },
  });
  try {
    const endpoints = requests(
      wavFile({ kind: 'int', bits: 16, rateHz: 16_000, channels: 1 }, noise(32_000)),
    );
    await measure(service, endpoints);
    const idle = await measure(service, endpoints);
    const p95 = (latencies: Map<string, number[]>, name: string) => quantile(latencies.get(name) ?? [], 0.95);
    const rows: Row[] = [];
    const notes: string[] = [];
    for (const [attack, { path, ...flood }] of Object.entries(await attacks(folder))) {
      const argument: Flood = { ...flood, url: `${service.baseUrl}${path}`, key: ATTACKER, repeat: true };
      const script = join(import.meta.dirname, '../../flood.ts');
      const file = join(folder, 'flood.json');
      await Bun.write(file, JSON.stringify(argument));
      const attacker = Bun.spawn([process.execPath, script, file], {
        env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: String(2 * UNREAD) },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      await Bun.sleep(SETTLE_MS);
      const { latencies, errors } = await measure(service, endpoints);
      attacker.kill();
      await attacker.exited;
      await Bun.sleep(SETTLE_MS);
      const stepMs = await longestStepMs(service);
      for (const name of Object.keys(endpoints)) {
        rows.push({
          measure: `${attack}: ${name}, p95`,
          ours: p95(latencies, name),
          peer: p95(idle.latencies, name),
          unit: 'ms',
          target: stepMs + ALLOWED_MS,
          judged: 'difference',
        });
      }
      if (errors.length > 0) notes.push(`${attack}: ${errors.length} errors, e.g. ${errors[0]}`);
    }
    await report(
      'expensive-inputs',
      'Latency of one organization while another one sends expensive inputs',
      rows,
      [
        `The other organization sends ${CONCURRENT} requests at the same time, or ${UNREAD} that it does not read. Each prompt and each schema is different, so that no cache helps. The baseline is the same request on the idle service.`,
        'The target is the upper bound of the bucket of the longest inference step (99 % of all steps) plus 100 ms.',
        'POST /v1/responses is measured until the end of 16 tokens, during which prompts of the other organization are read in a third of the time at most. Chat is measured until its first token.',
        'While recordings are transcribed, the language model gets only the rest of the cores, because speech and transcription come first.',
        ...notes,
      ],
    );
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
}
