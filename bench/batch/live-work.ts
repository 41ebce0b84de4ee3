/** What people wait for while other work runs: one short piece of live work of each kind, timed. */

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
/** All frames are read before the commit arrives, as with a live client. */
const READ_MS = 60;
/** What was left early has stopped by then. */
const STOP_MS = 150;
const SENTENCE = 'Thank you, I will call you back in a moment.';

/** Of the wait without other work, in the 95th percentile. */
const MAX_TIMES = 1.2;

/** Times by kind of work, in ms. */
export type Times = Map<string, number[]>;

/** One kind of live work. */
export interface LiveWork {
  readonly name: string;
  /** How often it is asked for in one round; what takes longer is asked for less often. */
  readonly times: number;
  /** Does it once. @returns how long that took, in ms. */
  once(): Promise<number>;
}

/** Every kind, over one realtime connection and HTTP. To be closed. */
export async function openLiveWork(service: Service) {
  const speech = decodeToFloat32((await speak(service, CLIP_TEXT)).body, 'pcm16');
  const frames = appendFrames(speech.subarray(0, CLIP_S * SOCKET_RATE_HZ), CHUNK_MS);
  const client = await TimedClient.open(service.baseUrl);
  await client.configure({ audio: { input: { transcription: { language: 'en' } } } });
  const kinds: readonly LiveWork[] = [
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

/** Each kind so often as it wants, spread over the round. */
export async function timeLiveWork(kinds: readonly LiveWork[], into: Times): Promise<void> {
  const most = Math.max(...kinds.map(({ times }) => times));
  for (let at = 1; at <= most; at += 1) {
    for (const { name, times, once } of kinds) {
      const isTurn = Math.floor((at * times) / most) > Math.floor(((at - 1) * times) / most);
      if (!isTurn) continue;
      const measured = into.get(name) ?? [];
      into.set(name, measured);
      measured.push(await once());
    }
  }
}

/** Duration under concurrent work compared with the duration without it. */
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
  const leaving = new AbortController();
  const startMs = performance.now();
  const response = await post(
    service,
    '/v1/audio/speech',
    { model: 'svc-tts', input: SENTENCE, response_format: 'pcm' },
    leaving.signal,
  );
  const first = await response.body?.getReader().read();
  if (first?.value === undefined) throw new Error('no audio came over HTTP');
  const ms = performance.now() - startMs;
  leaving.abort();
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
