/**
 * Speaks on many sockets of `/v1/realtime` in real time, as configured by cases/realtime-streams.ts. It measures
 * events from the sending of the append with which they were certain, and its own lag.
 */

import { cpuUsage } from 'node:process';
import { answerLines } from '../line-process.ts';
import { quantile } from '../statistics.ts';
import { appendFrames } from './appends.ts';
import { openSocket, type Received } from './client.ts';
import type { Edge } from './turns.ts';

/** What the first line says. */
export interface StreamPlan {
  readonly kind: 'open';
  readonly baseUrl: string;
  /** Samples of the clip, f32 at the socket's rate. */
  readonly clip: string;
  /** Where in the clip a session may begin, in ms, and what is found in {@link lengthMs} from there. */
  readonly variants: readonly { readonly fromMs: number; readonly edges: readonly Edge[] }[];
  readonly sessions: number;
  readonly chunkMs: number;
  readonly lengthMs: number;
  /** Events that are certain before this do not count. */
  readonly warmUpMs: number;
  /** What the recogniser takes for itself. */
  readonly recogniserMs: number;
}

/** The second line starts them, and is answered when all have spoken. */
export type StreamOrder = StreamPlan | { readonly kind: 'speak' };

export interface Delays {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly most: number;
}

export interface StreamLoad {
  /** Of each type of event; of texts without the time of the recogniser. */
  readonly delays: Readonly<Record<string, Delays>>;
  readonly all: Delays;
  /** Appends behind their time. */
  readonly lag: Delays;
  /** Turns that were found, and should have been. */
  readonly turns: number;
  readonly expectedTurns: number;
  /** Other events than were expected, and errors. */
  readonly unexpected: readonly string[];
  /** Of a core. */
  readonly cores: number;
}

const SESSION = { audio: { input: { turn_detection: { type: 'server_vad' } } } };
/** Appends that are due are sent this often. */
const TICK_MS = 2;
/** The last texts have come by then. */
const SETTLE_MS = 1500;
const AT_ONCE = 30;
/** Which edge makes an event certain, and whether the recogniser works between. */
const CAUSES: Readonly<Record<string, { edge: Edge['kind']; recognised: boolean }>> = {
  'input_audio_buffer.speech_started': { edge: 'started', recognised: false },
  'input_audio_buffer.speech_stopped': { edge: 'stopped', recognised: false },
  'input_audio_buffer.committed': { edge: 'stopped', recognised: false },
  'conversation.item.input_audio_transcription.completed': { edge: 'stopped', recognised: true },
};

/** One socket that speaks. */
class Speaker {
  readonly #socket: WebSocket;
  readonly #frames: readonly string[];
  readonly #first: number;
  readonly received: Received[] = [];
  readonly sentMs: number[] = [];
  /** When the next append is due, in ms from the start. */
  dueMs: number;

  constructor(socket: WebSocket, frames: readonly string[], first: number, dueMs: number) {
    this.#socket = socket;
    this.#frames = frames;
    this.#first = first;
    this.dueMs = dueMs;
  }

  /** Resolves when the session is set. */
  async opened(): Promise<void> {
    const set = Promise.withResolvers<void>();
    this.#socket.onclose = ({ code }) => set.reject(new Error(`a socket was closed: ${code}`));
    this.#socket.onmessage = ({ data }) => {
      const atMs = performance.now();
      const event: Received = { ...JSON.parse(String(data)), atMs };
      if (event.type === 'session.created') {
        this.#socket.send(JSON.stringify({ type: 'session.update', session: SESSION }));
      } else if (event.type === 'session.updated') set.resolve();
      else this.received.push(event);
    };
    await set.promise;
  }

  speak(): void {
    const frame = this.#frames[(this.#first + this.sentMs.length) % this.#frames.length] ?? '';
    this.#socket.send(frame);
    this.sentMs.push(performance.now());
  }

  close(): void {
    this.#socket.onclose = null;
    this.#socket.close();
  }
}

let plan: StreamPlan | undefined;
let speakers: Speaker[] = [];

await answerLines(async (order: StreamOrder) => {
  if (order.kind === 'open') {
    plan = order;
    speakers = await open(order);
    return { sessions: speakers.length };
  }
  if (plan === undefined) throw new Error('nothing was opened');
  return await speak(plan);
});

async function open({ baseUrl, clip, variants, sessions, chunkMs }: StreamPlan): Promise<Speaker[]> {
  const samples = new Float32Array(await Bun.file(clip).arrayBuffer());
  const frames = appendFrames(samples, chunkMs);
  const opened: Speaker[] = [];
  for (let at = 0; at < sessions; at += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, sessions - at) }, (_, i) => {
      const { fromMs = 0 } = variants[(at + i) % variants.length] ?? {};
      const dueMs = ((at + i) * chunkMs) / sessions;
      return new Speaker(openSocket(baseUrl), frames, fromMs / chunkMs, dueMs);
    });
    await Promise.all(some.map((speaker) => speaker.opened()));
    opened.push(...some);
  }
  return opened;
}

async function speak(running: StreamPlan): Promise<StreamLoad> {
  const { chunkMs, lengthMs, warmUpMs } = running;
  const lags: number[] = [];
  const startMs = performance.now();
  const startCpu = cpuUsage();
  for (let nowMs = 0; nowMs < lengthMs; nowMs = performance.now() - startMs) {
    for (const speaker of speakers) {
      while (speaker.dueMs <= nowMs && speaker.sentMs.length < lengthMs / chunkMs) {
        speaker.speak();
        if (speaker.dueMs >= warmUpMs) lags.push(performance.now() - startMs - speaker.dueMs);
        speaker.dueMs += chunkMs;
      }
    }
    await Bun.sleep(TICK_MS);
  }
  const { user, system } = cpuUsage(startCpu);
  const cores = (user + system) / 1000 / (performance.now() - startMs);
  await Bun.sleep(SETTLE_MS);
  const found = judge(running);
  for (const speaker of speakers) speaker.close();
  return { ...found, lag: summary(lags), cores };
}

/** Brings the events of each session and the edges of its clip together. */
function judge({ variants, chunkMs, warmUpMs, recogniserMs }: StreamPlan) {
  const delays: Record<string, number[]> = {};
  const unexpected: string[] = [];
  let [turns, expectedTurns] = [0, 0];
  for (const [index, { received, sentMs }] of speakers.entries()) {
    const edges = variants[index % variants.length]?.edges ?? [];
    expectedTurns += edges.filter(({ kind }) => kind === 'stopped').length;
    const next: Record<string, number> = {};
    for (const { type, atMs, error } of received) {
      const cause = CAUSES[type];
      if (cause === undefined) {
        if (type !== 'conversation.item.input_audio_transcription.delta') {
          unexpected.push(error?.message ?? type);
        }
        continue;
      }
      const at = next[type] ?? 0;
      next[type] = at + 1;
      const edge = edges.filter(({ kind }) => kind === cause.edge)[at];
      if (edge === undefined) {
        unexpected.push(`one more ${type}`);
        continue;
      }
      if (cause.recognised) turns += 1;
      const sent = sentMs[Math.ceil(edge.certainMs / chunkMs) - 1] ?? Number.NaN;
      if (edge.certainMs < warmUpMs) continue;
      delays[type] ??= [];
      delays[type].push(atMs - sent - (cause.recognised ? recogniserMs : 0));
    }
  }
  return {
    delays: Object.fromEntries(Object.entries(delays).map(([type, values]) => [type, summary(values)])),
    all: summary(Object.values(delays).flat()),
    turns,
    expectedTurns,
    unexpected: [...new Set(unexpected)],
  };
}

function summary(values: readonly number[]): Delays {
  return {
    count: values.length,
    median: quantile(values, 0.5),
    p99: quantile(values, 0.99),
    most: quantile(values, 1),
  };
}
