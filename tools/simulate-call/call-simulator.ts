/**
 * A whole call as the partner platform makes it: it sends both channels to the transcriber, decides by the texts when
 * the customer's turn is over, has a reply written and spoken, and plays that on the assistant's channel.
 */

import { CallLine, type Said } from './call-simulator-line.ts';
import {
  CallPlatform,
  type ChatMessage,
  keyHeaders,
  type PlatformOptions,
  spokenPieces,
} from './call-simulator-platform.ts';

export interface SimulatorOptions extends PlatformOptions {
  /** Of both channels and of the voice. */
  readonly rateHz?: number;
  /** Query of the transcriber. */
  readonly query?: string;
  /** What the platform waits for behind a final before the turn is over; its own defaults when absent. */
  readonly waits?: TurnWaits;
}

/** The platform's plan for the end of a turn, in ms. */
export interface TurnWaits {
  readonly onPunctuation: number;
  readonly onNoPunctuation: number;
  /** Added last, before it speaks. */
  readonly beforeSpeech: number;
}

const PLATFORM_WAITS: TurnWaits = { onPunctuation: 100, onNoPunctuation: 1500, beforeSpeech: 400 };
/** Timeout of the platform (spec 8). */
const PLATFORM_TIMEOUT_MS = 30_000;

/** A message of the transcriber, and when it came. */
export interface Transcribed {
  readonly type: string;
  readonly transcription?: string;
  readonly channel?: string;
  readonly transcriptType?: 'partial' | 'final';
  readonly error?: string;
  readonly atMs: number;
}

/** One turn of the customer and the answer to it; times in ms. */
export interface SimulatedTurn {
  /** The finals of the turn, put together. */
  readonly transcript: string;
  readonly partials: number;
  /** From the first sound to the first text. */
  readonly firstTextMs: number;
  /** From the last sound to the last final. */
  readonly finalMs: number;
  readonly reply: string;
  readonly chatFirstMs: number;
  readonly voiceFirstMs: number;
  /** From the last sound to the first sound of the answer, with the platform's own waits. */
  readonly answerMs: number;
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
  /** Resolves with the code of the close. */
  readonly closed: Promise<number>;
  #news = Promise.withResolvers<void>();

  private constructor(socket: WebSocket, options: SimulatorOptions) {
    const { rateHz = 16_000, waits = PLATFORM_WAITS } = options;
    this.#options = { rateHz, waits };
    this.#platform = new CallPlatform(options);
    this.#socket = socket;
    const closed = Promise.withResolvers<number>();
    this.closed = closed.promise;
    socket.onmessage = ({ data }) => {
      this.messages.push({ ...JSON.parse(String(data)), atMs: performance.now() });
      this.#told();
    };
    socket.onclose = ({ code }) => {
      closed.resolve(code);
      this.#told();
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

  /** @throws when the transcriber refuses the call. */
  static async dial(options: SimulatorOptions): Promise<SimulatedCall> {
    const { baseUrl, key, keyHeader, query = '?model=svc-stt' } = options;
    const url = `${baseUrl.replace(/^http/, 'ws')}/v1/transcribers/partner${query}`;
    // Bun's own options, which take headers.
    const headers = { headers: keyHeaders(key, keyHeader) } as unknown as string[];
    const socket = new WebSocket(url, headers);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error('the transcriber refused the call'));
    });
    return new SimulatedCall(socket, options);
  }

  /** Samples of a text, spoken by the service's voice: lines for either speaker. */
  async voiceOf(text: string): Promise<Int16Array> {
    return await this.#platform.sound(text, this.#options.rateHz);
  }

  /** The finals so far, which are the customer's alone. */
  get transcripts(): string[] {
    return this.messages.flatMap(({ transcriptType, transcription }) =>
      transcriptType === 'final' && transcription !== undefined ? [transcription] : [],
    );
  }

  /** What the service said of failures. */
  get errors(): string[] {
    return this.messages.flatMap(({ type, error }) => (type === 'error' ? [error ?? ''] : []));
  }

  /** The customer says something; resolves when it was said. */
  customerSays(samples: Int16Array): Promise<Said> {
    return this.#line.say('customer', samples);
  }

  /** The assistant speaks, also over the caller. */
  assistantSays(samples: Int16Array): Promise<Said> {
    return this.#line.say('assistant', samples);
  }

  /** Drops what the assistant has not said, as the platform does when it is interrupted. */
  interruptAssistant(): void {
    this.#line.interrupt('assistant');
  }

  /**
   * Resolves when a final has come since the customer's last sound and nothing followed it for a while.
   * @param before how many messages had come before.
   * @throws after the platform's timeout, and when the call ends.
   */
  async settled(before: number, endMs: number, quietMs: number): Promise<void> {
    await this.#turnEnd(before, endMs, () => quietMs);
  }

  /** Resolves when so many finals have come. @throws after the platform's timeout, and when the call ends. */
  async finals(count: number): Promise<void> {
    const deadline = performance.now() + PLATFORM_TIMEOUT_MS;
    while (this.transcripts.length < count) await this.#untilNews(deadline);
  }

  /**
   * A turn with its answer. The assistant's answer is heard to its end, or until the customer's next turn begins.
   * @param samples of the customer.
   */
  async turn(samples: Int16Array): Promise<SimulatedTurn> {
    const before = this.messages.length;
    const said = await this.customerSays(samples);
    const { onPunctuation, onNoPunctuation } = this.#options.waits;
    await this.#turnEnd(before, said.endMs, (text) =>
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
    let answeredMs: number | undefined;
    for (const piece of spokenPieces(reply.value)) {
      const heard = (sound: Int16Array) => {
        answeredMs ??= performance.now();
        void this.#line.say('assistant', sound);
      };
      const spoken = await this.#platform.speak(piece, this.#options.rateHz, heard, timeout());
      voiceFirstMs ??= spoken.firstMs;
    }
    return {
      transcript,
      partials: came.length - finals.length,
      firstTextMs: (came[0]?.atMs ?? Number.NaN) - said.startMs,
      finalMs: (finals.at(-1)?.atMs ?? Number.NaN) - said.endMs,
      reply: reply.value,
      chatFirstMs: reply.firstMs,
      voiceFirstMs: voiceFirstMs ?? Number.NaN,
      answerMs: (answeredMs ?? Number.NaN) - said.endMs,
    };
  }

  /** Ends the call; what has been said is still written out by the service. */
  hangUp(): void {
    this.#line.hangUp();
    this.#socket.close();
  }

  /** The connection is gone without a word. */
  drop(): void {
    this.#line.hangUp();
    (this.#socket as WebSocket & { terminate(): void }).terminate();
  }

  /** Waits until a final has come and nothing follows it for as long as it is waited for. */
  async #turnEnd(before: number, endMs: number, waitMs: (text: string) => number): Promise<void> {
    const deadline = endMs + PLATFORM_TIMEOUT_MS;
    for (;;) {
      const last = this.messages.slice(before).findLast(({ type }) => type === 'transcriber-response');
      if (last?.transcriptType === 'final' && last.atMs > endMs) {
        const overMs = last.atMs + waitMs(last.transcription ?? '');
        if (performance.now() >= overMs) return;
        await Promise.race([Bun.sleep(overMs - performance.now()), this.#news.promise]);
      } else await this.#untilNews(deadline);
    }
  }

  #told(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  async #untilNews(deadlineMs: number): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) throw new Error('the transcriber closed the call');
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0) throw new Error(`no transcript came within ${PLATFORM_TIMEOUT_MS / 1000} s`);
    await Promise.race([this.#news.promise, Bun.sleep(leftMs)]);
  }
}

/** The platform gives each request so long. */
function timeout(): AbortSignal {
  return AbortSignal.timeout(PLATFORM_TIMEOUT_MS);
}
