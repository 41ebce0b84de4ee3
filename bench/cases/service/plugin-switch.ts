/** Memory that a disabled plugin releases, duration of a switch, and its effect on other requests. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { familyMemoryKb } from '../../../tools/harness/clients/process-memory.ts';
import { launchPluginService, type PluginService } from '../../../tools/harness/services/plugin-service.ts';
import { report } from '../../report.ts';
import { speak } from '../../service.ts';
import { median, quantile } from '../../statistics.ts';

const ROUNDS = 5;
const PLUGINS = 'speech,responses';
const SENTENCES = 10;
const EMBEDDINGS = 200;
/** Samples of a memory measurement, one per second. Their minimum is the retained memory. */
const SAMPLES = 20;
/** Maximum of the memory, relative to the memory without the plugin. */
const MAX_TIMES = 1.05;
const TEXT = 'The harbour was quiet that morning. Two boats lay at the pier, and a gull walked between them.';

export async function benchPluginSwitch(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'voice-service-bench-'));
  try {
    const before = await launch(dataDir);
    await before.switch('speech', false);
    await before.stop();
    const service = await launch(dataDir);
    try {
      await measure(service);
    } finally {
      await service.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true });
  }
}

const launch = (dataDir: string) => launchPluginService({ dataDir, env: { PLUGINS } });

async function measure(service: PluginService): Promise<void> {
  const alone = await embedFor(service, EMBEDDINGS);
  const neverOnKb = await retainedKb(service);
  const onS: number[] = [];
  const offS: number[] = [];
  const onKb: number[] = [];
  const offKb: number[] = [];
  /** Latencies of concurrent embeddings in ms. */
  const concurrent = { switches: [] as number[], speech: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const on = () => service.switch('speech', true);
    concurrent.switches.push(...(await embedDuring(service, async () => onS.push(await seconds(on)))));
    const speaking = async () => {
      for (let at = 0; at < SENTENCES; at += 1) await speak(service, TEXT);
    };
    concurrent.speech.push(...(await embedDuring(service, speaking)));
    onKb.push(familyMemoryKb(service.pid));
    const off = () => service.switch('speech', false);
    concurrent.switches.push(...(await embedDuring(service, async () => offS.push(await seconds(off)))));
    offKb.push(await retainedKb(service));
  }
  const mib = (kb: readonly number[]) => median(kb) / 1024;
  await report(
    'plugin-switch',
    'Speech switched off and on during embeddings',
    [
      {
        measure: 'memory of all processes, speech off again, after the last round',
        ours: (offKb.at(-1) ?? 0) / 1024,
        peer: neverOnKb / 1024,
        unit: 'MiB',
        target: MAX_TIMES,
      },
      { measure: 'the same with speech on', ours: mib(onKb), unit: 'MiB' },
      { measure: 'from the request to on, median', ours: median(onS), unit: 's' },
      { measure: 'from the request to off, median', ours: median(offS), unit: 's' },
      ...[0.5, 0.99].map((share) => ({
        measure: `an embedding during a switch, p${share * 100}`,
        ours: quantile(concurrent.switches, share),
        peer: quantile(alone, share),
        unit: 'ms',
      })),
      {
        measure: 'an embedding while speech is spoken, 99 %',
        ours: quantile(concurrent.speech, 0.99),
        peer: quantile(alone, 0.99),
        unit: 'ms',
      },
    ],
    [
      'The default models with the plugins speech and responses. Memory is PSS, the minimum of ' +
        `${SAMPLES} samples, one per second. Baseline: the same process before speech was switched on.`,
      `${ROUNDS} rounds: on, ${SENTENCES} sentences, off. Memory after each, MiB: ${offKb
        .map((kb) => Math.round(kb / 1024))
        .join(' ')}.`,
      `${concurrent.switches.length} embeddings were requested while speech was switched on or off and ${concurrent.speech.length} while it was synthesized, ` +
        'one after the other; none failed (a failure ends the benchmark). Baseline: without speech. With one inference ' +
        'process, an embedding that arrives during synthesis waits for the end of the inference step.',
    ],
  );
}

/** Sends `count` embedding requests, one after the other. @returns their latencies in ms. */
async function embedFor(service: PluginService, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const startMs = performance.now();
    const response = await service.post('/v1/embeddings', { model: 'all-minilm-l6-v2', input: TEXT });
    const body = await response.text();
    if (!response.ok) throw new Error(`${response.status}: ${body}`);
    times.push(performance.now() - startMs);
  }
  return times;
}

/** Sends embedding requests, one after the other, until the work is done. @returns their latencies in ms. */
async function embedDuring(service: PluginService, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let working = true;
  const done = work().finally(() => {
    working = false;
  });
  while (working) times.push(...(await embedFor(service, 1)));
  await done;
  return times;
}

async function retainedKb(service: PluginService): Promise<number> {
  let minimum = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    await Bun.sleep(1000);
    minimum = Math.min(minimum, familyMemoryKb(service.pid));
  }
  return minimum;
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return (performance.now() - startMs) / 1000;
}
