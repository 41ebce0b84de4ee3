/** A caller of a conversation: sends audio in real time, and measures the replies as a player would hear them. */

import { encodeAudio, float32ToInt16 } from '../../src/audio/codec.ts';
import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import { SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { atSocketRate, SOCKET_RATE_HZ } from '../realtime/appends.ts';

const FRAME_MS = 20;
const FRAME_SAMPLES = (SOCKET_RATE_HZ * FRAME_MS) / 1000;
const SILENT_FRAME = frameOf(new Float32Array(FRAME_SAMPLES));
/** Level above which audio is speech: -46 dB. */
const SPEECH_LEVEL = 0.005;
const WAIT_LIMIT_MS = 60_000;

export interface CallerEvent {
  readonly type: string;
  /** Arrival time (`performance.now()`). */
  readonly atMs: number;
  readonly item_id?: string;
  readonly response_id?: string;
  readonly delta?: string;
  readonly transcript?: string;
  readonly item?: { readonly id: string; readonly content?: readonly { readonly transcript?: string }[] };
  readonly response?: {
    readonly id: string;
    readonly status: string;
    readonly status_details?: unknown;
    readonly timing?: Readonly<Record<string, number | null>>;
    readonly output: readonly {
      readonly type: string;
      readonly name?: string;
      readonly arguments?: string;
      readonly call_id?: string;
    }[];
  };
  readonly error?: { readonly code?: string; readonly message?: string };
}

/** Playback of the audio of a response that starts with its first delta. Times are values of `performance.now()`. */
export class Player {
  #startMs: number | undefined;
  /** Time at which all received audio is played. */
  #endMs = 0;
  #audioMs = 0;
  /** Silences while the player waited for audio, in ms. */
  readonly gapsMs: number[] = [];

  /** Start of the playback. */
  get startMs(): number | undefined {
    return this.#startMs;
  }

  get endMs(): number {
    return this.#endMs;
  }

  get audioMs(): number {
    return this.#audioMs;
  }

  add(lengthMs: number, atMs: number): void {
    if (this.#startMs === undefined) this.#startMs = this.#endMs = atMs;
    if (atMs > this.#endMs) {
      this.gapsMs.push(atMs - this.#endMs);
      this.#endMs = atMs;
    }
    this.#endMs += lengthMs;
    this.#audioMs += lengthMs;
  }

  /** Audio that is played at a time, in ms from the start of the response. */
  playedMs(atMs: number): number {
    return Math.max(0, this.#audioMs - Math.max(0, this.#endMs - atMs));
  }
}

export interface Reply {
  readonly id: string;
  readonly status: string;
  readonly player: Player;
  /** From the last sample of the speech to the first audio; undefined for a reply without audio. */
  readonly latencyMs: number | undefined;
  readonly done: CallerEvent;
  readonly transcript: string;
}

export class Caller {
  readonly #socket: WebSocket;
  readonly events: CallerEvent[] = [];
  /** Position of the next event to read. */
  #read = 0;
  #arrived = Promise.withResolvers<void>();
  #failure: string | undefined;
  /** Frames of speech that are not sent yet, with a callback for the last sample of speech. */
  readonly #frames: { readonly frame: string; readonly sent?: (atMs: number) => void }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #startMs = 0;
  #sentFrames = 0;

  private constructor(url: string) {
    this.#socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${SERVICE_KEY}` },
      perMessageDeflate: false,
    });
    this.#socket.onmessage = ({ data }) => {
      const event = { ...JSON.parse(String(data)), atMs: performance.now() } as CallerEvent;
      if (event.type === 'error') this.#failure = `${event.error?.code}: ${event.error?.message}`;
      this.events.push(event);
      this.#arrived.resolve();
    };
    this.#socket.onclose = ({ code, reason }) => {
      this.#failure = `the socket was closed with ${code} ${reason}`;
      this.#arrived.resolve();
    };
  }

  /** Connects, waits for the models, and starts to send silence. */
  static async open(baseUrl: string, session: object, model = 'svc-voice'): Promise<Caller> {
    await modelsLoaded(baseUrl, model);
    const caller = new Caller(`${baseUrl.replace(/^http/, 'ws')}/v1/realtime?model=${model}`);
    await caller.until(({ type }) => type === 'session.created');
    caller.send({ type: 'session.update', session: { type: 'realtime', ...session } });
    await caller.until(({ type }) => type === 'session.updated');
    caller.#startMs = performance.now();
    caller.#sendFrames();
    return caller;
  }

  send(event: { readonly type: string; readonly [field: string]: unknown }): void {
    this.#socket.send(JSON.stringify(event));
  }

  /** Sends speech at 16 kHz in real time. Resolves with the time at which its last sound was sent. */
  async speak(samples: Float32Samples): Promise<number> {
    const speech = atSocketRate(samples);
    const lastSound = speech.findLastIndex((sample) => Math.abs(sample) > SPEECH_LEVEL);
    const lastFrame = Math.floor(Math.max(0, lastSound) / FRAME_SAMPLES);
    const ended = Promise.withResolvers<number>();
    for (let i = 0; i * FRAME_SAMPLES < speech.length; i++) {
      const piece = new Float32Array(FRAME_SAMPLES);
      piece.set(speech.subarray(i * FRAME_SAMPLES, (i + 1) * FRAME_SAMPLES));
      this.#frames.push({ frame: frameOf(piece), ...(i === lastFrame && { sent: ended.resolve }) });
    }
    return await ended.promise;
  }

  /**
   * Speaks, waits for the complete reply and until it is played. A reply that the caller interrupts with the rest of the turn is
   * not the reply to the turn.
   */
  async takeTurn(samples: Float32Samples): Promise<Reply> {
    const speechEndMs = await this.speak(samples);
    for (;;) {
      const reply = await this.reply(speechEndMs);
      if (reply.status === 'cancelled') continue;
      await Bun.sleep(Math.max(0, reply.player.endMs - performance.now()) + 200);
      return reply;
    }
  }

  /** Waits for the next response to end. */
  async reply(speechEndMs: number): Promise<Reply> {
    const player = new Player();
    let transcript = '';
    for (;;) {
      const event = await this.next();
      if (event.type === 'response.output_audio.delta') {
        player.add(((event.delta ?? '').length * 0.75 * 1000) / (2 * SOCKET_RATE_HZ), event.atMs);
      }
      if (event.type === 'response.output_audio_transcript.delta') transcript += event.delta ?? '';
      if (event.type !== 'response.done' || event.response === undefined) continue;
      const { id, status } = event.response;
      const latencyMs = player.startMs === undefined ? undefined : player.startMs - speechEndMs;
      return { id, status, player, latencyMs, done: event, transcript };
    }
  }

  async until(accepts: (event: CallerEvent) => boolean): Promise<CallerEvent> {
    for (;;) {
      const event = await this.next();
      if (accepts(event)) return event;
    }
  }

  /** Reads the next event. @throws Error after an error event, a closed connection, or without an event for a minute. */
  async next(): Promise<CallerEvent> {
    while (this.#read >= this.events.length) {
      if (this.#failure !== undefined) throw new Error(this.#failure);
      this.#arrived = Promise.withResolvers();
      const timer = setTimeout(() => this.#arrived.reject(new Error('no event arrived')), WAIT_LIMIT_MS);
      await this.#arrived.promise.finally(() => clearTimeout(timer));
    }
    const event = this.events[this.#read++];
    if (event === undefined) throw new Error('no event');
    return event;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#socket.onclose = null;
    this.#socket.close(1000);
  }

  /** Sends the frames that are due. A late timer is made up for. */
  #sendFrames(): void {
    const due = Math.floor((performance.now() - this.#startMs) / FRAME_MS);
    for (; this.#sentFrames < due; this.#sentFrames++) {
      const { frame = SILENT_FRAME, sent } = this.#frames.shift() ?? {};
      this.#socket.send(frame);
      sent?.(performance.now());
    }
    const nextMs = this.#startMs + (this.#sentFrames + 1) * FRAME_MS;
    this.#timer = setTimeout(() => this.#sendFrames(), Math.max(1, nextMs - performance.now()));
  }
}

function frameOf(samples: Float32Array<ArrayBuffer>): string {
  const audio = Buffer.from(encodeAudio(float32ToInt16(samples), 'pcm16')).toString('base64');
  return JSON.stringify({ type: 'input_audio_buffer.append', audio });
}

/** A handshake gets 503 until the models of the conversation are loaded. */
async function modelsLoaded(baseUrl: string, model: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${baseUrl}/v1/realtime?model=${model}`, {
      headers: {
        authorization: `Bearer ${SERVICE_KEY}`,
        upgrade: 'websocket',
        connection: 'Upgrade',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      },
    });
    if (response.status !== 503) return;
    await Bun.sleep(1000);
  }
}
