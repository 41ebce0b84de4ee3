import { ServiceError } from '../../src/contract/core/error.ts';
import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import type {
  AudioChunk,
  SttEngine,
  SynthesisRequest,
  TextToken,
  TranscriptionEvent,
  TranscriptionRequest,
  TtsEngine,
  VadEngine,
  VadEvent,
  VadSettings,
  VadStream,
} from '../../src/contract/engines/engine.ts';
import { untilAborted } from '../../src/kit/async/until-aborted.ts';
import { waitForAbort } from '../../src/kit/async/wait-for-abort.ts';

/** Commands of a test to an engine. */
export type SttOrder =
  | { readonly stt: 'delta'; readonly text: string }
  | { readonly stt: 'final' }
  | { readonly stt: 'fail'; readonly kind?: 'upstream' | 'internal' | 'unknown' };
export type TtsOrder =
  | { readonly tts: 'audio'; readonly ms: number }
  | { readonly tts: 'end' }
  | { readonly tts: 'fail'; readonly kind?: 'upstream' | 'internal' | 'unknown' };
export interface VadOrder {
  /** Speech intervals in ms since the start of the detector. */
  readonly vad: readonly (readonly [onsetMs: number, endMs: number])[] | 'fail';
}

/** Queue of commands. */
class Orders<Order> {
  readonly #waiting: Order[] = [];
  #added = Promise.withResolvers<void>();

  give(order: Order): void {
    this.#waiting.push(order);
    this.#added.resolve();
    this.#added = Promise.withResolvers();
  }

  async next(signal: AbortSignal): Promise<Order> {
    for (;;) {
      signal.throwIfAborted();
      const order = this.#waiting.shift();
      if (order !== undefined) return order;
      await Promise.race([this.#added.promise, waitForAbort(signal)]);
    }
  }
}

const FAILURES = {
  upstream: () => new ServiceError('upstream', 'The engine is gone.'),
  internal: () => new ServiceError('internal', 'The worker died.'),
  unknown: () => new Error('private words'),
};

/** A text as one token. */
function tokenOf(text: string): TextToken {
  return { bytes: [...Buffer.from(text)], logProbability: -0.25 };
}

/** Emits scripted transcripts on command. One transcription receives commands at a time. */
export class OrderedSttEngine implements SttEngine {
  readonly languages = ['en', 'de'];
  readonly hasPreviews = false;
  readonly requests: TranscriptionRequest[] = [];
  readonly #orders = new Orders<SttOrder>();

  give(order: SttOrder): void {
    this.#orders.give(order);
  }

  async *transcribe(
    audio: AsyncIterable<AudioChunk>,
    request: TranscriptionRequest,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    this.requests.push(request);
    let samples = 0;
    for await (const piece of untilAborted(audio, signal)) if (piece !== 'pause') samples += piece.length;
    let text = '';
    const tokens: TextToken[] = [];
    for (;;) {
      const order = await this.#orders.next(signal);
      if (order.stt === 'fail') throw FAILURES[order.kind ?? 'upstream']();
      if (order.stt === 'final') break;
      text += order.text;
      const delta = request.textTokens
        ? { text: order.text, tokens: [tokenOf(order.text)] }
        : { text: order.text };
      tokens.push(...(delta.tokens ?? []));
      yield { kind: 'delta', ...delta };
    }
    const counts = { inputTokens: { audio: 7, text: 0 }, outputTokens: 5, segments: [], words: [] };
    const reported = request.textTokens ? { tokens } : {};
    const transcript = { text, language: 'en', durationS: samples / 16_000, ...counts, ...reported };
    yield { kind: 'final', transcript };
  }

  ready() {
    return { ready: true };
  }

  async close() {}
}

/** Emits scripted audio on command. */
export class OrderedTtsEngine implements TtsEngine {
  readonly rateHz = 24_000;
  readonly requests: SynthesisRequest[] = [];
  readonly #orders = new Orders<TtsOrder>();

  give(order: TtsOrder): void {
    this.#orders.give(order);
  }

  async *synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<Float32Samples> {
    this.requests.push(request);
    for (;;) {
      const order = await this.#orders.next(signal);
      if (order.tts === 'fail') throw FAILURES[order.kind ?? 'upstream']();
      if (order.tts === 'end') return;
      yield new Float32Array(order.ms * 24).fill(0.25);
    }
  }

  ready() {
    return { ready: true };
  }

  async close() {}
}

/** A detector that reports speech at scripted positions, counted from its start. */
export class OrderedVadEngine implements VadEngine {
  readonly #plans: VadOrder['vad'][] = [];

  /** Sets the speech of the next detector that receives audio. */
  give({ vad }: VadOrder): void {
    this.#plans.push(vad);
  }

  openStream(settings: VadSettings, rateHz: number): VadStream {
    let plan: { readonly atSample: number; readonly event: VadEvent }[] | undefined;
    let written = 0;
    let isClosed = false;
    return {
      write: async (samples) => {
        const order = plan === undefined ? this.#plans.shift() : undefined;
        if (order === 'fail') throw new ServiceError('internal', 'The detector died.');
        plan ??= spokenAt(order ?? [], settings, rateHz);
        written += samples.length;
        if (isClosed) return [];
        const due = plan.filter(({ atSample }) => atSample <= written);
        plan = plan.slice(due.length);
        return due.map(({ event }) => event);
      },
      end: async () => [],
      close: () => {
        isClosed = true;
      },
    };
  }

  ready() {
    return { ready: true };
  }

  async close() {}
}

function spokenAt(speech: readonly (readonly [number, number])[], settings: VadSettings, rateHz: number) {
  const samples = (ms: number) => Math.round((ms * rateHz) / 1000);
  return speech.flatMap(([onsetMs, endMs], index) => {
    const { prefixPaddingMs, minSpeechDurationMs, silenceDurationMs } = settings;
    const [, lastEndMs = 0] = speech[index - 1] ?? [];
    const startSample = samples(Math.max(lastEndMs, onsetMs - prefixPaddingMs));
    const endSample = samples(endMs);
    const started: VadEvent = { kind: 'started', onsetSample: samples(onsetMs), startSample };
    return [
      { atSample: samples(onsetMs + minSpeechDurationMs), event: started },
      { atSample: endSample, event: { kind: 'paused', endSample } as const },
      { atSample: samples(endMs + silenceDurationMs), event: { kind: 'stopped', endSample } as const },
    ];
  });
}
