/**
 * Simulates a call of the partner platform: sends both channels to the transcriber, detects the end of the customer's
 * turn from the transcripts, requests a reply and its speech, and plays it on the assistant's channel.
 */

import { CallLine, type UtteranceTimes } from './call-simulator-line.ts';
import {
  CallPlatform,
  type ChatMessage,
  keyHeaders,
  type PlatformOptions,
  spokenPieces,
} from './call-simulator-platform.ts';

export interface SimulatorOptions extends PlatformOptions {
  /** Sample rate of both channels and of the voice. */
  readonly rateHz?: number;
  /** Query string of the transcriber URL. */
  readonly query?: string;
  /** Waiting times after a final transcript until the turn ends. Default: those of the platform. */
  readonly waits?: TurnWaits;
}

/** Waiting times of the platform at the end of a turn, in ms. */
export interface TurnWaits {
  readonly onPunctuation: number;
  readonly onNoPunctuation: number;
  /** Delay before the speech of the reply. */
  readonly beforeSpeech: number;
}

const PLATFORM_WAITS: TurnWaits = { onPunctuation: 100, onNoPunctuation: 1500, beforeSpeech: 400 };
/** Timeout of the platform (spec 8). */
const PLATFORM_TIMEOUT_MS = 30_000;

/** A message of the transcriber with its arrival time. */
export interface Transcribed {
  readonly type: string;
  readonly transcription?: string;
  readonly channel?: string;
  readonly transcriptType?: 'partial' | 'final';
  readonly error?: string;
  readonly atMs: number;
}

/** One turn of the customer and the assistant's reply; times in ms. */
export interface SimulatedTurn {
  /** The joined final transcripts of the turn. */
  readonly transcript: string;
  readonly partials: number;
  /** From the start of speech to the first transcript. */
  readonly firstTextMs: number;
  /** From the end of speech to the last final transcript. */
  readonly finalMs: number;
  readonly reply: string;
  readonly chatFirstMs: number;
  readonly voiceFirstMs: number;
  /** From the end of speech to the start of the reply, including the platform's waiting times. */
  readonly responseMs: number;
}

export class SimulatedCall {
  readonly #options: Required<Pick<SimulatorOptions, 'rateHz' | 'waits'>>;
  readonly #platform: CallPlatform;
  readonly #socket: WebSocket;
  readonly #line: CallLine;
  readonly #chat: ChatMessage[] = [
    { role: 'system', content: 'You are a friendly waiter. Answer in one short sentence.' },
  ];
  readonly messages: Transcribed[] = [];
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  #nextNotification = Promise.withResolvers<void>();

  private constructor(socket: WebSocket, options: SimulatorOptions) {
    const { rateHz = 16_000, waits = PLATFORM_WAITS } = options;
    this.#options = { rateHz, waits };
    this.#platform = new CallPlatform(options);
    this.#socket = socket;
    const closed = Promise.withResolvers<number>();
    this.closed = closed.promise;
    socket.onmessage = ({ data }) => {
      this.messages.push({ ...JSON.parse(String(data)), atMs: performance.now() });
      this.#notify();
    };
    socket.onclose = ({ code }) => {
      closed.resolve(code);
      this.#notify();
    };
    socket.send(
      JSON.stringify({
        type: 'start',
        encoding: 'linear16',
        container: 'raw',
        sampleRate: rateHz,
        channels: 2,
      }),
    );
    this.#line = new CallLine({ rateHz, send: (frame) => socket.send(frame) });
  }

  /** @throws Error if the transcriber rejects the call. */
  static async dial(options: SimulatorOptions): Promise<SimulatedCall> {
    const { baseUrl, key, keyHeader, query = '?model=svc-stt' } = options;
    const url = `${baseUrl.replace(/^http/, 'ws')}/v1/transcribers/partner${query}`;
    // Bun's options accept headers.
    const headers = { headers: keyHeaders(key, keyHeader) } as unknown as string[];
    const socket = new WebSocket(url, headers);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error('the transcriber rejected the call'));
    });
    return new SimulatedCall(socket, options);
  }

  /** Returns the speech of a text by the service, for either speaker. */
  async voiceOf(text: string): Promise<Int16Array> {
    return await this.#platform.sound(text, this.#options.rateHz);
  }

  /** The final transcripts so far, all of the customer. */
  get transcripts(): string[] {
    return this.messages.flatMap(({ transcriptType, transcription }) =>
      transcriptType === 'final' && transcription !== undefined ? [transcription] : [],
    );
  }

  /** Error messages of the service. */
  get errors(): string[] {
    return this.messages.flatMap(({ type, error }) => (type === 'error' ? [error ?? ''] : []));
  }

  /** Plays an utterance of the customer. Resolves when it has been sent. */
  customerSays(samples: Int16Array): Promise<UtteranceTimes> {
    return this.#line.say('customer', samples);
  }

  /** Plays an utterance of the assistant, also while the customer speaks. */
  assistantSays(samples: Int16Array): Promise<UtteranceTimes> {
    return this.#line.say('assistant', samples);
  }

  /** Discards the unsent audio of the assistant, like the platform after an interruption. */
  interruptAssistant(): void {
    this.#line.interrupt('assistant');
  }

  /**
   * Resolves when a final transcript has arrived since the customer's end of speech and nothing followed it for a while.
   * @param before number of earlier messages.
   * @throws after the platform's timeout, and when the call ends.
   */
  async settled(before: number, endMs: number, quietMs: number): Promise<void> {
    await this.#turnEnd(before, endMs, () => quietMs);
  }

  /** Resolves after this number of final transcripts. @throws after the platform's timeout, and when the call ends. */
  async finals(count: number): Promise<void> {
    const deadline = performance.now() + PLATFORM_TIMEOUT_MS;
    while (this.transcripts.length < count) await this.#nextMessage(deadline);
  }

  /**
   * Plays a turn of the customer and the reply. The reply plays to its end, or until the customer's next turn starts.
   * @param samples speech of the customer.
   */
  async turn(samples: Int16Array): Promise<SimulatedTurn> {
    const before = this.messages.length;
    const utterance = await this.customerSays(samples);
    const { onPunctuation, onNoPunctuation } = this.#options.waits;
    await this.#turnEnd(before, utterance.endMs, (text) =>
      /[.!?]$/.test(text) ? onPunctuation : onNoPunctuation,
    );
    const came = this.messages.slice(before).filter(({ type }) => type === 'transcriber-response');
    const finals = came.filter(({ transcriptType }) => transcriptType === 'final');
    const transcript = finals.map(({ transcription }) => transcription).join(' ');
    this.#chat.push({ role: 'user', content: transcript });
    const reply = await this.#platform.reply(this.#chat, timeout());
    this.#chat.push({ role: 'assistant', content: reply.value });
    await Bun.sleep(this.#options.waits.beforeSpeech);
    let voiceFirstMs: number | undefined;
    let respondedMs: number | undefined;
    for (const piece of spokenPieces(reply.value)) {
      const play = (sound: Int16Array) => {
        respondedMs ??= performance.now();
        void this.#line.say('assistant', sound);
      };
      const spoken = await this.#platform.speak(piece, this.#options.rateHz, play, timeout());
      voiceFirstMs ??= spoken.firstMs;
    }
    return {
      transcript,
      partials: came.length - finals.length,
      firstTextMs: (came[0]?.atMs ?? Number.NaN) - utterance.startMs,
      finalMs: (finals.at(-1)?.atMs ?? Number.NaN) - utterance.endMs,
      reply: reply.value,
      chatFirstMs: reply.firstMs,
      voiceFirstMs: voiceFirstMs ?? Number.NaN,
      responseMs: (respondedMs ?? Number.NaN) - utterance.endMs,
    };
  }

  /** Ends the call. The service still transcribes received audio. */
  hangUp(): void {
    this.#line.hangUp();
    this.#socket.close();
  }

  /** Drops the connection without closing it. */
  drop(): void {
    this.#line.hangUp();
    (this.#socket as WebSocket & { terminate(): void }).terminate();
  }

  /** Waits until a final transcript has arrived and nothing has followed it for the waiting time. */
  async #turnEnd(before: number, endMs: number, waitMs: (text: string) => number): Promise<void> {
    const deadline = endMs + PLATFORM_TIMEOUT_MS;
    for (;;) {
      const last = this.messages.slice(before).findLast(({ type }) => type === 'transcriber-response');
      if (last?.transcriptType === 'final' && last.atMs > endMs) {
        const overMs = last.atMs + waitMs(last.transcription ?? '');
        if (performance.now() >= overMs) return;
        await settledWithin(this.#nextNotification.promise, overMs - performance.now());
      } else await this.#nextMessage(deadline);
    }
  }

  #notify(): void {
    this.#nextNotification.resolve();
    this.#nextNotification = Promise.withResolvers();
  }

  async #nextMessage(deadlineMs: number): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) throw new Error('the transcriber closed the call');
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0) throw new Error(`no transcript arrived within ${PLATFORM_TIMEOUT_MS / 1000} s`);
    await settledWithin(this.#nextNotification.promise, leftMs);
  }
}

/** Timeout of each request of the platform. */
function timeout(): AbortSignal {
  return AbortSignal.timeout(PLATFORM_TIMEOUT_MS);
}

/** Waits for a promise up to a time. The timer is stopped, because it would keep the process running after the call. */
async function settledWithin(promise: Promise<void>, timeMs: number): Promise<void> {
  const elapsed = Promise.withResolvers<void>();
  const timer = setTimeout(elapsed.resolve, timeMs);
  try {
    await Promise.race([promise, elapsed.promise]);
  } finally {
    clearTimeout(timer);
  }
}
