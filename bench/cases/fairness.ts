/** What a key that sends little waits for while another floods the service: one of its own organization, or of another. */

import { type LaunchedService, launchService, NO_RECOGNISER } from '../../tools/harness/services/launcher.ts';
import { type Row, report } from '../report.ts';
import { median, quantile } from '../statistics.ts';

const FLOOD = 500;
const LIGHT = 30;
const WARM_UP = 5;

const FLOODING_KEY = 'flooding-key';
const SISTER_KEY = 'light-key-of-the-same-organization';
const STRANGER_KEY = 'light-key-of-another-organization';
const SENTENCE = 'Thank you, I will call you back in a moment.';
const LIGHT_KEYS = { 'of the same organization': SISTER_KEY, 'of another organization': STRANGER_KEY };

/** Places for the whole flood, so that it waits in the queues and is not turned away at the door. */
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
  /** What is measured: until the first bytes of a stream, since the rest of it is not waited for, or until the end. */
  readonly until: 'first bytes' | 'end';
  readonly body: object;
  /** What the flood asks for, when that is another thing. */
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
    // One text takes a millisecond: such a flood would be over before anybody met it.
    floodBody: { model: 'all-minilm-l6-v2', input: new Array(64).fill(SENTENCE) },
  },
};

/** In a separate process: the concurrency limit of one HTTP client must not delay the light key. */
function startFlood(url: string, body: string) {
  const script = new URL('../flood.ts', import.meta.url).pathname;
  return Bun.spawn([process.execPath, script, url, FLOODING_KEY, String(FLOOD), body], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: String(2 * FLOOD) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

const openCalls = async (service: LaunchedService): Promise<number> => {
  const text = await (await service.fetch('/metrics')).text();
  return Number(/^usage_open_calls (\d+)/m.exec(text)?.[1]);
};

/** Waits until so many calls are open, or none. */
async function untilOpen(service: LaunchedService, isEnough: (open: number) => boolean): Promise<void> {
  while (!isEnough(await openCalls(service))) await Bun.sleep(20);
}

/** How long one request of a key takes, in ms. */
async function ask(
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
    for (let at = 0; at < WARM_UP; at += 1) await ask(service, { ...kind, body }, STRANGER_KEY);
    for (let at = 0; at < LIGHT; at += 1) times.push(await ask(service, { ...kind, body }, STRANGER_KEY));
    return median(times);
  };
  const ownMs = await alone(kind.body);
  const rows: Row[] = [
    { measure: `${name}: a request alone, until its ${kind.until}`, ours: ownMs, unit: 'ms' },
  ];
  // What is served when the light key comes is a request of the flood.
  const serviceMs = kind.floodBody ? await alone(kind.floodBody) : ownMs;
  if (kind.floodBody)
    rows.push({ measure: `${name}: a request of the flood alone`, ours: serviceMs, unit: 'ms' });
  for (const [whose, key] of Object.entries(LIGHT_KEYS)) {
    const waits: number[] = [];
    let floods = 0;
    // A flood that is served fast is sent again: every request of the light key must meet one.
    while (waits.length < LIGHT) {
      floods += 1;
      const flood = startFlood(`${service.baseUrl}${kind.path}`, JSON.stringify(kind.floodBody ?? kind.body));
      await untilOpen(service, (open) => open > 0.5 * FLOOD || flood.exitCode !== null);
      while (waits.length < LIGHT && (await openCalls(service)) > 0.1 * FLOOD) {
        waits.push(Math.max(0, (await ask(service, kind, key)) - ownMs));
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
  const keys = [`${FLOODING_KEY}:a`, `${SISTER_KEY}:a`, `${STRANGER_KEY}:b`];
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
