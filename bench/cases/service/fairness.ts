/** Latency of a key with few requests while another key, of the same or another organization, floods the service. */

import { join } from 'node:path';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
} from '../../../tools/harness/services/launcher.ts';
import type { Flood } from '../../flood.ts';
import { type Row, report } from '../../report.ts';
import { median, quantile } from '../../statistics.ts';

const FLOOD = 500;
const LIGHT = 30;
const WARM_UP = 5;

const FLOODING_KEY = 'flooding-key';
const SAME_ORGANIZATION_KEY = 'light-key-of-the-same-organization';
const OTHER_ORGANIZATION_KEY = 'light-key-of-another-organization';
const SENTENCE = 'Thank you, I will call you back in a moment.';
const LIGHT_KEYS = {
  'of the same organization': SAME_ORGANIZATION_KEY,
  'of another organization': OTHER_ORGANIZATION_KEY,
};

/** Limits that admit the whole flood, so that it is queued and not rejected. */
const CONFIG = `
[models."svc-tts"]
kind = "piper"
${NO_RECOGNISER}
[inference]
queue_limit = 2000
[limits]
speech_requests_per_organization = 1000
text_requests_per_organization = 1000
`;

interface Kind {
  readonly path: string;
  /** End of the measured latency. A stream is cancelled after its first bytes. */
  readonly until: 'first bytes' | 'end';
  readonly body: object;
  /** Body of the requests of the flood, if different. */
  readonly floodBody?: object;
}

const KINDS: Readonly<Record<string, Kind>> = {
  speech: {
    path: '/v1/audio/speech',
    until: 'first bytes',
    body: { model: 'svc-tts', input: SENTENCE, response_format: 'pcm' },
  },
  chat: {
    path: '/v1/chat/completions',
    until: 'first bytes',
    body: {
      model: 'smollm2-135m-instruct',
      messages: [{ role: 'user', content: 'Name three birds.' }],
      max_tokens: 16,
      temperature: 0,
      stream: true,
    },
  },
  embeddings: {
    path: '/v1/embeddings',
    until: 'end',
    body: { model: 'all-minilm-l6-v2', input: SENTENCE },
    // One text takes 1 ms; such a flood would end before the first request of the light key.
    floodBody: { model: 'all-minilm-l6-v2', input: new Array(64).fill(SENTENCE) },
  },
};

/** Runs in a separate process, because the concurrency limit of an HTTP client must not delay the light key. */
async function startFlood(folder: string, url: string, json: string) {
  const script = new URL('../../flood.ts', import.meta.url).pathname;
  const flood: Flood = { url, key: FLOODING_KEY, count: FLOOD, json };
  const file = join(folder, 'flood.json');
  await Bun.write(file, JSON.stringify(flood));
  return Bun.spawn([process.execPath, script, file], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: String(2 * FLOOD) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

const openCalls = async (service: LaunchedService): Promise<number> => {
  const text = await (await service.fetch('/metrics')).text();
  return Number(/^usage_open_calls (\d+)/m.exec(text)?.[1]);
};

/** Waits until the number of open calls satisfies a condition. */
async function untilOpen(service: LaunchedService, isEnough: (open: number) => boolean): Promise<void> {
  while (!isEnough(await openCalls(service))) await Bun.sleep(20);
}

/** Sends one request. @returns its latency in ms. */
async function sendRequest(
  service: LaunchedService,
  { path, until, body }: Pick<Kind, 'path' | 'until' | 'body'>,
  key: string,
): Promise<number> {
  const start = performance.now();
  const response = await service.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(body),
  });
  const reader = response.body?.getReader();
  await reader?.read();
  const firstMs = performance.now() - start;
  if (!response.ok) throw new Error(`${response.status} for a request`);
  if (until === 'first bytes') {
    await reader?.cancel();
    return firstMs;
  }
  while (!(await reader?.read())?.done);
  return performance.now() - start;
}

async function measured(service: LaunchedService, name: string, kind: Kind): Promise<Row[]> {
  const alone = async (body: object): Promise<number> => {
    const times: number[] = [];
    for (let at = 0; at < WARM_UP; at += 1)
      await sendRequest(service, { ...kind, body }, OTHER_ORGANIZATION_KEY);
    for (let at = 0; at < LIGHT; at += 1)
      times.push(await sendRequest(service, { ...kind, body }, OTHER_ORGANIZATION_KEY));
    return median(times);
  };
  const ownMs = await alone(kind.body);
  const rows: Row[] = [
    { measure: `${name}: a request alone, until its ${kind.until}`, ours: ownMs, unit: 'ms' },
  ];
  // The light key waits for the running request of the flood.
  const serviceMs = kind.floodBody ? await alone(kind.floodBody) : ownMs;
  if (kind.floodBody)
    rows.push({ measure: `${name}: a request of the flood alone`, ours: serviceMs, unit: 'ms' });
  for (const [whose, key] of Object.entries(LIGHT_KEYS)) {
    const waits: number[] = [];
    let floods = 0;
    // A flood that ends early is repeated, because every request of the light key must be concurrent with one.
    while (waits.length < LIGHT) {
      floods += 1;
      const flood = await startFlood(
        service.dataDir,
        `${service.baseUrl}${kind.path}`,
        JSON.stringify(kind.floodBody ?? kind.body),
      );
      await untilOpen(service, (open) => open > 0.5 * FLOOD || flood.exitCode !== null);
      while (waits.length < LIGHT && (await openCalls(service)) > 0.1 * FLOOD) {
        waits.push(Math.max(0, (await sendRequest(service, kind, key)) - ownMs));
      }
      flood.kill();
      await flood.exited;
      await untilOpen(service, (open) => open === 0);
    }
    const measure = `${name}: wait of a light key ${whose}`;
    rows.push(
      { measure: `${measure}, floods`, ours: floods, unit: '' },
      { measure: `${measure}, median`, ours: median(waits), peer: serviceMs, unit: 'ms' },
      { measure: `${measure}, 95 %`, ours: quantile(waits, 0.95), peer: serviceMs, unit: 'ms', target: 2 },
    );
  }
  return rows;
}

export async function benchFairness(): Promise<void> {
  const keys = [`${FLOODING_KEY}:a`, `${SAME_ORGANIZATION_KEY}:a`, `${OTHER_ORGANIZATION_KEY}:b`];
  const service = await launchService({ config: CONFIG, env: { API_KEYS: keys.join(',') } });
  try {
    const rows: Row[] = [];
    for (const [name, kind] of Object.entries(KINDS)) rows.push(...(await measured(service, name, kind)));
    await report(
      'fairness',
      `One key sends ${FLOOD} requests concurrently, another key sends one at a time`,
      rows,
      [
        'The wait is the latency of a request during the flood minus its latency alone. The baseline is the latency of one request of the flood alone.',
      ],
    );
  } finally {
    await service.stop();
  }
}
