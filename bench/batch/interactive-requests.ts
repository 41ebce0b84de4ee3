/** Latency of short live requests of each kind while other work runs. */

import { decodeToFloat32 } from '../../src/audio/codec.ts';
import { SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { appendFrames, SOCKET_RATE_HZ } from '../realtime/appends.ts';
import { TimedClient } from '../realtime/client.ts';
import type { Row } from '../report.ts';
import { type Service, speak } from '../service.ts';
import { median, quantile } from '../statistics.ts';

const CLIP_S = 3;
const CLIP_TEXT = 'I would like to move my appointment to Thursday afternoon, if that is possible for you.';
const CHUNK_MS = 100;
/** Pause before the commit, so that all frames are read, as with a live client. */
const READ_MS = 60;
/** Time until an aborted request has stopped. */
const STOP_MS = 150;
const SENTENCE = 'Thank you, I will call you back in a moment.';

/** Maximum of the 95th percentile, relative to the latency without other work. */
const MAX_TIMES = 1.2;

/** Times by kind of work, in ms. */
export type Times = Map<string, number[]>;

/** One kind of live work. */
export interface InteractiveRequests {
  readonly name: string;
  /** Number of requests per round; less for slower requests. */
  readonly times: number;
  /** Sends one request. @returns its latency in ms. */
  once(): Promise<number>;
}

/** All kinds, over one realtime connection and HTTP. The caller closes it. */
export async function openInteractiveRequests(service: Service) {
  const speech = decodeToFloat32((await speak(service, CLIP_TEXT)).body, 'pcm16');
  const frames = appendFrames(speech.subarray(0, CLIP_S * SOCKET_RATE_HZ), CHUNK_MS);
  const client = await TimedClient.open(service.baseUrl);
  await client.configure({ audio: { input: { transcription: { language: 'en' } } } });
  const kinds: readonly InteractiveRequests[] = [
    {
      name: `realtime: commit → completed of ${CLIP_S} s`,
      times: 15,
      once: () => committed(client, frames),
    },
    {
      name: 'HTTP: first audio of a sentence',
      times: 10,
      once: () => firstAudio(service),
    },
    {
      name: 'HTTP: embedding of a text',
      times: 40,
      once: () => answered(service, '/v1/embeddings', { model: 'all-minilm-l6-v2', input: SENTENCE }),
    },
    {
      name: 'HTTP: chat of 16 tokens',
      times: 15,
      once: () =>
        answered(service, '/v1/chat/completions', {
          model: 'smollm2-135m-instruct',
          messages: [{ role: 'user', content: 'Name three birds.' }],
          max_tokens: 16,
          temperature: 0,
        }),
    },
  ];
  return { kinds, close: () => client.close() };
}

/** Measures each kind `times` times, distributed over the round. */
export async function timeLiveWork(kinds: readonly InteractiveRequests[], into: Times): Promise<void> {
  const maxTimes = Math.max(...kinds.map(({ times }) => times));
  for (let at = 1; at <= maxTimes; at += 1) {
    for (const { name, times, once } of kinds) {
      const isTurn = Math.floor((at * times) / maxTimes) > Math.floor(((at - 1) * times) / maxTimes);
      if (!isTurn) continue;
      const measured = into.get(name) ?? [];
      into.set(name, measured);
      measured.push(await once());
    }
  }
}

/** Latency with concurrent work compared with the latency without it. */
export function liveRows(name: string, ours: readonly number[] = [], peer: readonly number[] = []): Row[] {
  const p95 = { ours: quantile(ours, 0.95), peer: quantile(peer, 0.95), unit: 'ms', target: MAX_TIMES };
  return [
    { measure: `${name}, median`, ours: median(ours), peer: median(peer), unit: 'ms' },
    { measure: `${name}, 95 %`, ...p95 },
  ];
}

async function committed(client: TimedClient, frames: readonly string[]): Promise<number> {
  for (const frame of frames) client.sendFrame(frame);
  await Bun.sleep(READ_MS);
  const startMs = client.send({ type: 'input_audio_buffer.commit' });
  const { atMs } = await client.until('conversation.item.input_audio_transcription.completed');
  return atMs - startMs;
}

async function firstAudio(service: Service): Promise<number> {
  const controller = new AbortController();
  const startMs = performance.now();
  const response = await post(
    service,
    '/v1/audio/speech',
    { model: 'svc-tts', input: SENTENCE, response_format: 'pcm' },
    controller.signal,
  );
  const first = await response.body?.getReader().read();
  if (first?.value === undefined) throw new Error('no audio over HTTP');
  const ms = performance.now() - startMs;
  controller.abort();
  await Bun.sleep(STOP_MS);
  return ms;
}

async function answered(service: Service, path: string, body: object): Promise<number> {
  const startMs = performance.now();
  await (await post(service, path, body)).arrayBuffer();
  return performance.now() - startMs;
}

async function post(service: Service, path: string, body: object, signal?: AbortSignal): Promise<Response> {
  const response = await service.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_KEY}` },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response;
}
