/** What a key that sends little waits for while another floods the service. */

import { launchService, NO_RECOGNISER, OTHER_KEY, SERVICE_KEY } from '../../test/support/launcher.ts';
import { report } from '../report.ts';
import { median, quantile } from '../statistics.ts';

const FLOOD = 500;
const LIGHT = 30;
const TEXT = 'Thank you, I will call you back in a moment.';

/** Places for the whole flood, so that it waits in the queue and is not turned away at the door. */
const CONFIG = `
[models."svc-tts"]
kind = "piper"
${NO_RECOGNISER}
[inference]
queue_limit = 2000
[limits]
speech_requests_per_organization = 1000
`;

const BODY = JSON.stringify({ model: 'svc-tts', input: TEXT, response_format: 'pcm' });

/** In a process of its own: a client has a limit of requests at once, which must not hold up the light key. */
function startFlood(url: string) {
  const script = new URL('../flood.ts', import.meta.url).pathname;
  return Bun.spawn([process.execPath, script, url, SERVICE_KEY, String(FLOOD), BODY], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: String(2 * FLOOD) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Waits until nearly so many calls are open: some of them have been served by then. */
async function openCalls(service: Awaited<ReturnType<typeof launchService>>, count: number): Promise<void> {
  for (;;) {
    const text = await (await service.fetch('/metrics')).text();
    if (Number(/^usage_open_calls (\d+)/m.exec(text)?.[1]) > 0.9 * count) return;
    await Bun.sleep(50);
  }
}

export async function benchFairness(): Promise<void> {
  const service = await launchService({ config: CONFIG, env: { PLUGINS: 'speech' } });
  /** Time to the first audio of one synthesis, in ms: the rest comes as it is played. */
  const speak = async (): Promise<number> => {
    const start = performance.now();
    const response = await service.fetch('/v1/audio/speech', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': OTHER_KEY },
      body: BODY,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    const firstAudioMs = performance.now() - start;
    if (!response.ok) throw new Error(`${response.status} for a request`);
    while (!(await reader?.read())?.done);
    return firstAudioMs;
  };
  try {
    for (let at = 0; at < 5; at++) await speak();
    const alone: number[] = [];
    for (let at = 0; at < LIGHT; at++) alone.push(await speak());
    const serviceMs = median(alone);

    const flood = startFlood(`${service.baseUrl}/v1/audio/speech`);
    const light: number[] = [];
    try {
      await openCalls(service, FLOOD);
      for (let at = 0; at < LIGHT; at++) light.push(await speak());
    } finally {
      flood.kill();
    }

    const waits = light.map((ms) => Math.max(0, ms - serviceMs));
    await report('fairness', `One key sends ${FLOOD} requests at once, another one after the other`, [
      { measure: 'a request alone: time to the first audio, median', ours: serviceMs, unit: 'ms' },
      { measure: 'wait of the light key, median', ours: median(waits), peer: serviceMs, unit: 'ms' },
      {
        measure: 'wait of the light key, 95 %',
        ours: quantile(waits, 0.95),
        peer: serviceMs,
        unit: 'ms',
        target: 2,
      },
    ]);
  } finally {
    await service.stop();
  }
}
