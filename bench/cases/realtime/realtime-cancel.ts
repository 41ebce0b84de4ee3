/** Latency of `response.cancel`, and audio after its `response.done`. */

import { seededRandom } from '../../../src/kit/math/seeded-random.ts';
import { launchService, NO_RECOGNISER, NO_TEXT } from '../../../tools/harness/services/launcher.ts';
import { type Received, TimedClient } from '../../realtime/client.ts';
import type { Measured } from '../../realtime/measured.ts';
import type { Service } from '../../service.ts';
import { quantile } from '../../statistics.ts';

const CONFIG = `
[models."svc-tts"]
kind = "kokoro"

[models."svc-tts-fast"]
kind = "piper"
${NO_RECOGNISER}${NO_TEXT}`;
const CANCELS = 1000;
/**
 * More connections than the machine can synthesize concurrently. Most responses of the large model are cancelled while
 * queued, those of the small model during synthesis.
 */
const MODELS = ['svc-tts', 'svc-tts', 'svc-tts', 'svc-tts-fast', 'svc-tts-fast', 'svc-tts-fast'];
const LATEST_MS = 800;
const TARGET_MS = 50;
/** Time in which late events arrive. */
const SETTLE_MS = 500;
/** Starts soon and takes longer than {@link LATEST_MS}. */
const TEXT = `Of course. ${'It was the best of times, it was the worst of times. We had everything before us. '.repeat(12)}`;

interface CancelResults {
  /** From `response.cancel` to `response.done` of each response. */
  readonly waitsMs: number[];
  /** Responses that were cancelled before their first audio. */
  silent: number;
  /** Deltas between a cancel and its `response.done`. */
  deltasInFlight: number;
  /** Deltas after the `response.done` of their response. */
  deltasAfter: number;
  /** Responses whose final status is not `cancelled`. */
  otherEnds: number;
}

export async function measureCancels(): Promise<Measured> {
  const service = await launchService({ config: CONFIG });
  const results: CancelResults = { waitsMs: [], silent: 0, deltasInFlight: 0, deltasAfter: 0, otherEnds: 0 };
  try {
    await Promise.all(MODELS.map((model, seed) => cancelMany(service, model, seed + 1, results)));
  } finally {
    await service.stop();
  }
  const { waitsMs } = results;
  const measure = `response.cancel → response.done, ${waitsMs.length} cancels`;
  return {
    rows: [
      { measure: `${measure}, median`, ours: quantile(waitsMs, 0.5), unit: 'ms' },
      { measure: `${measure}, 99 %`, ours: quantile(waitsMs, 0.99), unit: 'ms', target: TARGET_MS },
      { measure: `${measure}, most`, ours: Math.max(...waitsMs), unit: 'ms' },
      { measure: 'audio deltas after their response.done', ours: results.deltasAfter, unit: '', target: 0 },
      { measure: 'cancelled responses with another end', ours: results.otherEnds, unit: '', target: 0 },
    ],
    notes: [
      `Cancels: ${MODELS.length} concurrent connections (half piper, half kokoro), each response cancelled 0–${LATEST_MS} ms after response.create; ${results.silent} before their first audio; ${results.deltasInFlight} deltas were in flight between a cancel and its response.done.`,
    ],
  };
}

async function cancelMany(
  service: Service,
  model: string,
  seed: number,
  results: CancelResults,
): Promise<void> {
  const random = seededRandom(seed);
  const client = await TimedClient.open(service.baseUrl);
  await client.configure({ output_modalities: ['audio'], tts_model: model });
  for (let i = 0; i < CANCELS / MODELS.length; i++) await cancelOne(client, random() * LATEST_MS, results);
  await Bun.sleep(SETTLE_MS);
  results.deltasAfter += client.taken().filter(isDelta).length;
  await client.close();
}

async function cancelOne(client: TimedClient, afterMs: number, results: CancelResults): Promise<void> {
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: TEXT }] };
  client.send({ type: 'conversation.item.create', item });
  client.send({ type: 'response.create' });
  await Bun.sleep(afterMs);
  const before = client.taken();
  const cancelledMs = client.send({ type: 'response.cancel' });
  const inFlight: Received[] = [];
  let done: Received;
  do {
    done = await client.next();
    if (done.type === 'error') throw new Error(`${done.error?.code}: ${done.error?.message}`);
    inFlight.push(done);
  } while (done.type !== 'response.done');
  results.waitsMs.push(done.atMs - cancelledMs);
  if (!before.some(isDelta)) results.silent += 1;
  results.deltasInFlight += inFlight.filter(isDelta).length;
  const deltas = [...before, ...inFlight].filter(isDelta);
  results.deltasAfter += deltas.filter(({ response_id }) => response_id !== done.response?.id).length;
  if (done.response?.status !== 'cancelled') results.otherEnds += 1;
}

function isDelta({ type }: Received): boolean {
  return type === 'response.audio.delta';
}
