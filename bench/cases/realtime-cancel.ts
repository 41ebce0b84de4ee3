/** How soon a response is over that its client cancels, and that nothing of it is heard after that. */

import { seededRandom } from '../../src/kit/math/seeded-random.ts';
import { launchService, NO_RECOGNISER, NO_TEXT } from '../../tools/harness/services/launcher.ts';
import { type Received, TimedClient } from '../realtime/client.ts';
import type { Measured } from '../realtime/measured.ts';
import type { Service } from '../service.ts';
import { quantile } from '../statistics.ts';

const CONFIG = `
[models."svc-tts"]
kind = "kokoro"

[models."svc-tts-fast"]
kind = "piper"
${NO_RECOGNISER}${NO_TEXT}`;
const CANCELS = 1000;
/**
 * More than the machine synthesizes concurrently: most responses of the large model are still queued when they are
 * cancelled, those of the small one are being spoken.
 */
const MODELS = ['svc-tts', 'svc-tts', 'svc-tts', 'svc-tts-fast', 'svc-tts-fast', 'svc-tts-fast'];
const LATEST_MS = 800;
const TARGET_MS = 50;
/** What would come too late has come by then. */
const SETTLE_MS = 500;
/** Begins soon and takes longer than {@link LATEST_MS}. */
const TEXT = `Of course. ${'It was the best of times, it was the worst of times. We had everything before us. '.repeat(12)}`;

interface Heard {
  /** From `response.cancel` to `response.done`, of each response. */
  readonly waitsMs: number[];
  /** Cancelled before their first audio. */
  silent: number;
  /** Deltas between a cancel and its `response.done`. */
  deltasMeanwhile: number;
  /** Deltas that came when their response was done. */
  deltasAfter: number;
  /** Responses whose end was another than `cancelled`. */
  otherEnds: number;
}

export async function measureCancels(): Promise<Measured> {
  const service = await launchService({ config: CONFIG });
  const heard: Heard = { waitsMs: [], silent: 0, deltasMeanwhile: 0, deltasAfter: 0, otherEnds: 0 };
  try {
    await Promise.all(MODELS.map((model, seed) => cancelMany(service, model, seed + 1, heard)));
  } finally {
    await service.stop();
  }
  const { waitsMs } = heard;
  const measure = `response.cancel → response.done, ${waitsMs.length} cancels`;
  return {
    rows: [
      { measure: `${measure}, median`, ours: quantile(waitsMs, 0.5), unit: 'ms' },
      { measure: `${measure}, 99 %`, ours: quantile(waitsMs, 0.99), unit: 'ms', target: TARGET_MS },
      { measure: `${measure}, most`, ours: Math.max(...waitsMs), unit: 'ms' },
      { measure: 'audio deltas after their response.done', ours: heard.deltasAfter, unit: '', target: 0 },
      { measure: 'cancelled responses with another end', ours: heard.otherEnds, unit: '', target: 0 },
    ],
    notes: [
      `Cancels: ${MODELS.length} concurrent connections (half piper, half kokoro), each response cancelled 0–${LATEST_MS} ms after response.create; ${heard.silent} before their first audio; ${heard.deltasMeanwhile} deltas were in flight between a cancel and its response.done.`,
    ],
  };
}

async function cancelMany(service: Service, model: string, seed: number, heard: Heard): Promise<void> {
  const random = seededRandom(seed);
  const client = await TimedClient.open(service.baseUrl);
  await client.configure({ output_modalities: ['audio'], tts_model: model });
  for (let i = 0; i < CANCELS / MODELS.length; i++) await cancelOne(client, random() * LATEST_MS, heard);
  await Bun.sleep(SETTLE_MS);
  heard.deltasAfter += client.taken().filter(isDelta).length;
  await client.close();
}

async function cancelOne(client: TimedClient, afterMs: number, heard: Heard): Promise<void> {
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: TEXT }] };
  client.send({ type: 'conversation.item.create', item });
  client.send({ type: 'response.create' });
  await Bun.sleep(afterMs);
  const before = client.taken();
  const cancelledMs = client.send({ type: 'response.cancel' });
  const meanwhile: Received[] = [];
  let done: Received;
  do {
    done = await client.next();
    if (done.type === 'error') throw new Error(`${done.error?.code}: ${done.error?.message}`);
    meanwhile.push(done);
  } while (done.type !== 'response.done');
  heard.waitsMs.push(done.atMs - cancelledMs);
  if (!before.some(isDelta)) heard.silent += 1;
  heard.deltasMeanwhile += meanwhile.filter(isDelta).length;
  const deltas = [...before, ...meanwhile].filter(isDelta);
  heard.deltasAfter += deltas.filter(({ response_id }) => response_id !== done.response?.id).length;
  if (done.response?.status !== 'cancelled') heard.otherEnds += 1;
}

function isDelta({ type }: Received): boolean {
  return type === 'response.audio.delta';
}
