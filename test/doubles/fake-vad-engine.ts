/** A scripted voice activity detector without a model. */

import { type Float32Samples, LISTEN_RATE_HZ } from '../../src/contract/engines/audio.ts';
import type { VadEngine, VadEvent, VadSettings, VadStream } from '../../src/contract/engines/engine.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';

/** An event that is reported when `atSample` samples have been written. */
export interface ScriptedVadEvent {
  readonly atSample: number;
  readonly event: VadEvent;
}

export interface FakeVadOptions {
  /** Events of the stream with an index, in order of `atSample`. */
  readonly script?: (stream: number) => readonly ScriptedVadEvent[];
  /** Awaited before each result of a write; its errors are thrown by the write and close the stream. */
  readonly before?: (stream: FakeVadStream) => Promise<void> | void;
  /** Error that `openStream` throws. */
  readonly refusal?: () => unknown;
}

export class FakeVadEngine implements VadEngine {
  /** All streams, in the order of their creation. */
  readonly streams: FakeVadStream[] = [];
  readonly #options: FakeVadOptions;

  constructor(options: FakeVadOptions = {}) {
    this.#options = options;
  }

  openStream(settings: VadSettings, rateHz: number): FakeVadStream {
    const error = this.#options.refusal?.();
    if (error !== undefined) throw error;
    const { script = () => [], before = () => undefined } = this.#options;
    const stream = new FakeVadStream(settings, rateHz, script(this.streams.length), before);
    this.streams.push(stream);
    return stream;
  }

  ready() {
    return { ready: true };
  }

  async close() {
    for (const stream of this.streams) stream.close();
  }
}

export class FakeVadStream implements VadStream {
  readonly settings: VadSettings;
  readonly rateHz: number;
  /** Length of each write, in samples. */
  readonly pieces: number[] = [];
  /** Maximum number of concurrent writes so far. */
  maxUnderWay = 0;
  isClosed = false;
  readonly #written: Float32Samples[] = [];
  readonly #script: ScriptedVadEvent[];
  readonly #before: (stream: FakeVadStream) => Promise<void> | void;
  #writtenSamples = 0;
  #underWay = 0;

  constructor(
    settings: VadSettings,
    rateHz: number,
    script: readonly ScriptedVadEvent[],
    before: (stream: FakeVadStream) => Promise<void> | void,
  ) {
    this.settings = settings;
    this.rateHz = rateHz;
    this.#script = [...script];
    this.#before = before;
  }

  /** All written samples. */
  get samples(): Float32Samples {
    return joined(this.#written);
  }

  async write(samples: Float32Samples): Promise<readonly VadEvent[]> {
    if (this.isClosed) throw new Error('The stream was closed.');
    this.#written.push(samples);
    this.pieces.push(samples.length);
    this.#writtenSamples += samples.length;
    const written = this.#writtenSamples;
    this.#underWay += 1;
    this.maxUnderWay = Math.max(this.maxUnderWay, this.#underWay);
    try {
      await this.#before(this);
    } catch (error) {
      this.isClosed = true;
      throw error;
    } finally {
      this.#underWay -= 1;
    }
    if (this.isClosed) return [];
    const firstLater = this.#script.findIndex(({ atSample }) => atSample > written);
    const count = firstLater === -1 ? this.#script.length : firstLater;
    return this.#script.splice(0, count).map(({ event }) => event);
  }

  async end(): Promise<readonly VadEvent[]> {
    if (this.isClosed) throw new Error('The stream has ended.');
    this.isClosed = true;
    return this.#script.splice(0).map(({ event }) => event);
  }

  close(): void {
    this.isClosed = true;
  }
}

/** Script of a turn that is decided 0.3 s after its end, for a detector that receives samples at 16 kHz. Positions in s. */
export function scriptedTurn(startS: number, endS: number): ScriptedVadEvent[] {
  const sample = (seconds: number) => Math.round(seconds * LISTEN_RATE_HZ);
  const endSample = sample(endS);
  return [
    {
      atSample: sample(startS + 0.1),
      event: { kind: 'started', onsetSample: sample(startS), startSample: sample(startS) },
    },
    { atSample: sample(endS + 0.1), event: { kind: 'paused', endSample } },
    { atSample: sample(endS + 0.3), event: { kind: 'stopped', endSample } },
  ];
}

/**
 * Random events that the contract of `VadEngine` allows.
 * @param random 0 to 1, as `Math.random`.
 */
export function randomScript(
  random: () => number,
  { prefixPaddingMs, minSpeechDurationMs, silenceDurationMs }: VadSettings,
  rateHz: number,
  lengthMs: number,
): ScriptedVadEvent[] {
  const FRAME_MS = 32;
  const script: ScriptedVadEvent[] = [];
  const sample = (atMs: number) => Math.round((atMs * rateHz) / 1000);
  let judgedMs = 0;
  let freeMs = 0;
  const wait = (minMs: number, maxMs: number) => {
    judgedMs += Math.max(1, Math.ceil((minMs + random() * (maxMs - minMs)) / FRAME_MS)) * FRAME_MS;
  };
  const add = (event: VadEvent) => script.push({ atSample: sample(judgedMs), event });
  while (judgedMs < lengthMs) {
    wait(minSpeechDurationMs, 1500);
    const onsetMs = Math.max(freeMs, judgedMs - minSpeechDurationMs - random() * 400);
    const startMs = Math.max(freeMs, onsetMs - prefixPaddingMs);
    add({ kind: 'started', onsetSample: sample(onsetMs), startSample: sample(startMs) });
    for (let isOpen = true; isOpen; ) {
      wait(0, 2000);
      const endMs = Math.max(onsetMs, freeMs, judgedMs - random() * random() * 900);
      add({ kind: 'paused', endSample: sample(endMs) });
      const leftMs = endMs + silenceDurationMs - judgedMs;
      isOpen = leftMs > 2 * FRAME_MS && random() < 0.4;
      if (isOpen) {
        wait(0, leftMs - FRAME_MS);
        add({ kind: 'resumed' });
        // The ends of pauses never decrease.
        freeMs = endMs;
      } else {
        if (leftMs > 0) wait(leftMs, leftMs);
        add({ kind: 'stopped', endSample: sample(endMs) });
        freeMs = endMs;
      }
    }
  }
  return script;
}

/** Blocks callers of `wait` until a test releases them one by one, oldest first. */
export class Gate {
  readonly #waiting: { release: () => void; fail: (error: Error) => void }[] = [];

  /** For {@link FakeVadOptions.before}. */
  readonly wait = (): Promise<void> =>
    new Promise((resolve, reject) => {
      this.#waiting.push({ release: resolve, fail: reject });
    });

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Releases the oldest caller, or fails it. Resolves when its consequences are {@link settled}. */
  async next(failure?: Error): Promise<void> {
    const oldest = this.#waiting.shift();
    if (failure) oldest?.fail(failure);
    else oldest?.release();
    await settled();
  }
}

/** Resolves when all pending promise callbacks have run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
