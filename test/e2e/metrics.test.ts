import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RealtimeClient } from '../../tools/harness/clients/realtime-client.ts';
import { HAS_REDIS, startRedis } from '../../tools/harness/servers/redis.ts';
import {
  type LaunchedService,
  launchService,
  NO_MODELS,
  NO_RECOGNISER,
  NO_TEXT,
  SERVICE_KEY,
  speakStreamed,
} from '../../tools/harness/services/launcher.ts';
import { documentedMetrics } from '../harness/documented-metrics.ts';
import { seriesValue } from '../harness/metric-values.ts';
import { needs } from '../harness/needs.ts';

/** /metrics of the real process. */

const CONFIG = `
[models."svc-tts"]
kind = "piper"
${NO_RECOGNISER}${NO_TEXT}`;

let service: LaunchedService;
beforeAll(async () => {
  service = await launchService({ config: CONFIG });
});
afterAll(() => service?.stop());

const page = async () => (await service.fetch('/metrics')).text();

describe('the metrics guide', () => {
  it('lists exactly the metrics of the process, with their kinds', async () => {
    const text = await page();
    const exported = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, kind]) => `${name} ${kind}`);
    const documented = [...documentedMetrics()].map(([name, { kind }]) => `${name} ${kind}`);
    expect(documented.toSorted()).toEqual(exported.toSorted());
  });

  it('lists their labels', async () => {
    await (await speakStreamed(service, 'One sentence. And another one.')).arrayBuffer();
    const labelled = (await page()).matchAll(/^(\w+)\{(.*)\} \S+$/gm);
    const documented = documentedMetrics();
    for (const [, name = '', labels = ''] of labelled) {
      const metric = documented.get(name) ?? documented.get(name.replace(/_(bucket|sum|count)$/, ''));
      const used = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
      expect(used.filter((label) => label !== 'le').toSorted(), name).toEqual(metric?.labels.toSorted());
    }
  });
});

it('a streamed speech request updates the speech metrics', async () => {
  const before = await page();
  await (await speakStreamed(service, 'It was the best of times. It was the worst of times.')).arrayBuffer();
  const after = await page();
  const increase = (series: string) => (seriesValue(after, series) ?? 0) - (seriesValue(before, series) ?? 0);
  const labels = '{model="svc-tts",priority="interactive"}';
  expect(increase(`speech_first_audio_seconds_count${labels}`)).toBe(1);
  expect(increase(`speech_real_time_factor_count${labels}`)).toBe(2);
  expect(increase(`speech_audio_seconds_total${labels}`)).toBeGreaterThan(2);
  expect(increase('model_calls_total{task="speech",model="svc-tts",outcome="completed"}')).toBe(2);
  expect(increase('inference_queue_seconds_count{model="piper",priority="interactive"}')).toBe(2);
  expect(increase('inference_step_seconds_count{model="piper"}')).toBeGreaterThanOrEqual(2);
  expect(
    increase('usage_tokens_total{endpoint="/v1/audio/speech",model="svc-tts",direction="output"}'),
  ).toBeGreaterThan(0);
  expect(seriesValue(after, 'inference_open_jobs{priority="interactive"}')).toBe(0);
  expect(increase('process_cpu_seconds_total')).toBeGreaterThan(0);
});

it('an open WebSocket is counted until it is closed', async () => {
  const open = async () => seriesValue(await page(), 'realtime_open_connections');
  const url = `${service.baseUrl.replace('http', 'ws')}/v1/realtime`;
  const client = await RealtimeClient.connect(url, { headers: { authorization: `Bearer ${SERVICE_KEY}` } });
  await client.next('session.created');
  await expect.poll(open).toBe(1);
  await client.close();
  await expect.poll(open).toBe(0);
});

it('failures of an unavailable store are counted', async (context) => {
  needs(context, HAS_REDIS, 'Redis');
  const redis = await startRedis();
  const other = await launchService({
    config: `${NO_MODELS}\n[rate_limits]\nrequests_per_minute_per_key = 600\n`,
    env: { REDIS_URL: redis.url, PLUGINS: 'speech' },
  });
  const failures = async () =>
    seriesValue(await (await other.fetch('/metrics')).text(), 'store_failures_total{store="redis"}');
  expect((await other.fetch('/v1/models')).status).toBe(200);
  expect(await failures()).toBeUndefined();
  await redis.close();
  expect((await other.fetch('/v1/models')).status).toBe(200);
  await expect.poll(failures).toBe(1);
  await other.stop();
});
