/**
 * Sends speech over many connections to `/v1/realtime` in real time for cases/realtime-streams.ts. Measures the delay of
 * events after the append that completes their detection, and its own lag.
 */

import { cpuUsage } from 'node:process';
import { serveLines } from '../line-process.ts';
import { quantile } from '../statistics.ts';
import { appendFrames } from './appends.ts';
import { openSocket, type Received } from './client.ts';
import type { Edge } from './turns.ts';

/** First input line. */
export interface StreamPlan {
  readonly kind: 'open';
  readonly baseUrl: string;
  /** Path of the clip, f32 at the rate of the socket. */
  readonly clip: string;
  /** Start positions in the clip in ms, and the turn edges within {@link lengthMs} from there. */
  readonly variants: readonly { readonly fromMs: number; readonly edges: readonly Edge[] }[];
  readonly sessions: number;
  readonly chunkMs: number;
  readonly lengthMs: number;
  /** Events that are detected before this do not count. */
  readonly warmUpMs: number;
  /** Duration of a transcription by the stub engine. */
  readonly recogniserMs: number;
}

/** The second line starts the sessions. Its response is sent when all sessions have ended. */
export type StreamOrder = StreamPlan | { readonly kind: 'speak' };

export interface Delays {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly most: number;
}

export interface StreamLoad {
  /** By event type; transcripts without the duration of the transcription. */
  readonly delays: Readonly<Record<string, Delays>>;
  readonly all: Delays;
  /** Delay of appends. */
  readonly lag: Delays;
  /** Detected and expected turns. */
  readonly turns: number;
  readonly expectedTurns: number;
  /** Unexpected events and errors. */
  readonly unexpected: readonly string[];
  /** CPU time divided by wall time. */
  readonly cores: number;
}

const SESSION = { audio: { input: { turn_detection: { type: 'server_vad' } } } };
/** Interval of sending due appends. */
const TICK_MS = 2;
/** Time until the last transcripts have arrived. */
const SETTLE_MS = 1500;
const CONCURRENT_HANDSHAKES = 30;
/** The edge that causes an event, and whether the event requires a transcription. */
const CAUSES: Readonly<Record<string, { edge: Edge['kind']; recognised: boolean }>> = {
  'input_audio_buffer.speech_started': { edge: 'started', recognised: false },
  'input_audio_buffer.speech_stopped': { edge: 'stopped', recognised: false },
  'input_audio_buffer.committed': { edge: 'stopped', recognised: false },
  'conversation.item.input_audio_transcription.completed': { edge: 'stopped', recognised: true },
};

/** One connection that sends speech. */
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

  /** Resolves when the session is configured. */
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

await serveLines(async (order: StreamOrder) => {
  if (order.kind === 'open') {
    plan = order;
    speakers = await open(order);
    return { sessions: speakers.length };
  }
  if (plan === undefined) throw new Error('no session is open');
  return await speak(plan);
});

async function open({ baseUrl, clip, variants, sessions, chunkMs }: StreamPlan): Promise<Speaker[]> {
  const samples = new Float32Array(await Bun.file(clip).arrayBuffer());
  const frames = appendFrames(samples, chunkMs);
  const opened: Speaker[] = [];
  for (let at = 0; at < sessions; at += CONCURRENT_HANDSHAKES) {
    const some = Array.from({ length: Math.min(CONCURRENT_HANDSHAKES, sessions - at) }, (_, i) => {
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
  const results = matchEvents(running);
  for (const speaker of speakers) speaker.close();
  return { ...results, lag: summary(lags), cores };
}

/** Matches the events of each session with the edges of its clip. */
function matchEvents({ variants, chunkMs, warmUpMs, recogniserMs }: StreamPlan) {
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
