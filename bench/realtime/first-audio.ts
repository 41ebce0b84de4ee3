/** Time to the first audio of a response, compared with the same text over HTTP. */

import { SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import type { Row } from '../report.ts';
import type { Service } from '../service.ts';
import { median } from '../statistics.ts';
import { TimedClient } from './client.ts';
import type { Measured } from './measured.ts';

const TARGET = 1.1;
const RUNS = 25;
/** Time until an aborted request has stopped. */
const SETTLE_MS = 400;
const TEXTS = {
  short: 'Hello there, how can I help you today?',
  sentence:
    'Long inputs are split internally at sentence boundaries and returned as one audio response, and the audio length scales linearly with the input length.',
};

/** Latency from `response.create` to the first `response.audio.delta`, alternating with HTTP. */
export async function firstAudioRows(service: Service): Promise<Measured> {
  const client = await TimedClient.open(service.baseUrl);
  await client.configure({ output_modalities: ['audio'] });
  const rows: Row[] = [];
  for (const [name, text] of Object.entries(TEXTS)) {
    await overSocket(client, text);
    await overHttp(service, text);
    const [ours, theirs]: [number[], number[]] = [[], []];
    for (let run = 0; run < RUNS; run++) {
      ours.push(await overSocket(client, text));
      theirs.push(await overHttp(service, text));
    }
    rows.push({
      measure: `response.create → first audio, ${name}; peer: first audio over HTTP (pcm)`,
      ours: median(ours),
      peer: median(theirs),
      unit: 'ms',
      target: TARGET,
    });
  }
  await client.close();
  return {
    rows,
    notes: [
      `First audio: median of ${RUNS} alternating runs over the socket and HTTP, aborted after the first audio.`,
    ],
  };
}

async function overSocket(client: TimedClient, text: string): Promise<number> {
  client.send({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  });
  await client.until('conversation.item.created');
  const startMs = client.send({ type: 'response.create' });
  const { atMs } = await client.until('response.audio.delta');
  client.send({ type: 'response.cancel' });
  await client.until('response.done');
  await Bun.sleep(SETTLE_MS);
  return atMs - startMs;
}

async function overHttp(service: Service, text: string): Promise<number> {
  const controller = new AbortController();
  const startMs = performance.now();
  const response = await service.fetch('/v1/audio/speech', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_KEY}` },
    body: JSON.stringify({ model: 'svc-tts', input: text, response_format: 'pcm' }),
    signal: controller.signal,
  });
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  const { done } = await response.body.getReader().read();
  if (done) throw new Error('no audio over HTTP');
  const ms = performance.now() - startMs;
  controller.abort();
  await Bun.sleep(SETTLE_MS);
  return ms;
}
