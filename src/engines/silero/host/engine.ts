/**
 * Voice activity detection with Silero (docs/decisions/voice-activity.md), host side. Streams split their audio into
 * frames. Quiet frames are classified here; the other frames of all streams are sent to a worker process in one batch. One
 * batch is in flight at a time while the next one collects, so the batch size adapts to the load.
 */

import { fileURLToPath } from 'node:url';
import { ServiceError, StartError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { Counter, Histogram, Metrics } from '../../../contract/core/metrics.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { ReadyReport, VadEngine, VadSettings, VadStream } from '../../../contract/engines/engine.ts';
import { SupervisedProcess } from '../../../inference/workers/supervised-process.ts';
import { systemClock } from '../../../kit/clock.ts';
import { restartCounter } from '../../../kit/process/restart-counter.ts';
import { sileroFile } from '../shared/file.ts';
import { FRAME_SAMPLES } from '../shared/frame.ts';
import { BATCH_ROW_SAMPLES, type FromSilero, type LoadSilero, type ToSilero } from '../shared/protocol.ts';
import { SileroStream } from './stream.ts';

const WORKER_ENTRY = fileURLToPath(new URL('../worker/main.ts', import.meta.url));

/** A load usually takes 0.3 s. */
const LOAD_TIMEOUT_MS = 60_000;
/** A batch usually takes a few milliseconds. */
const BATCH_TIMEOUT_MS = 10_000;
const MAX_BUFFERED_MS = 30_000;
/** Rows from which no further stream is added to a batch: about 2 ms of work. */
const FULL_BATCH_ROWS = 128;
/** Quiet frames that are classified per turn of the event loop: 8 s of silence, or 2 ms of work. */
const MAX_QUIET_FRAMES = 256;
/** Maximum of each setting in ms (spec 8). */
const MAX_SETTING_MS = 5_000;
const RETRY_AFTER_S = 2;
const FRAME_SECONDS = FRAME_SAMPLES / LISTEN_RATE_HZ;
const STEP_SECONDS_BUCKETS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];

export interface VadOptions {
  readonly modelsDir: string;
  /** The whole environment of the process. Must not contain API keys of callers or upstreams. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Maximum duration of buffered audio per stream at a write, in ms. Default: 30 s. */
  readonly maxBufferedMs?: number;
  readonly loadTimeoutMs?: number;
  readonly batchTimeoutMs?: number;
}

/**
 * Opens the engine and waits until its process has loaded the model.
 * @throws StartError when the model file is missing or the process fails to load it.
 */
export async function openVad(options: VadOptions): Promise<VadEngine> {
  let engine: SileroEngine | undefined;
  try {
    const model = sileroFile(options.modelsDir);
    engine = new SileroEngine(model, options);
    await engine.start();
    return engine;
  } catch (error) {
    await engine?.close();
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

class SileroEngine implements VadEngine {
  readonly #options: VadOptions;
  readonly #process: SupervisedProcess<LoadSilero, undefined, ToSilero, FromSilero>;
  readonly #streams = new Set<SileroStream>();
  /** Streams with frames to classify, in order of arrival. */
  readonly #ready = new Set<SileroStream>();
  /** Streams with state in the worker process. They fail when it crashes. */
  readonly #stateful = new Set<SileroStream>();
  /** The batch in flight. */
  #batch: Batch | undefined;
  #sentMs = 0;
  #lastId = 0;
  #closed = false;
  readonly #stepSeconds: Histogram;
  readonly #audioSeconds: Counter;

  constructor(model: string, options: VadOptions) {
    this.#options = options;
    const countRestart = restartCounter(options.metrics, 'voice_activity');
    this.#process = new SupervisedProcess({
      name: 'voice activity process',
      entry: WORKER_ENTRY,
      load: { model },
      environment: options.environment,
      loadTimeoutMs: options.loadTimeoutMs ?? LOAD_TIMEOUT_MS,
      log: options.log,
      onMessage: ({ probabilities }) => this.#applyBatch(probabilities),
      onLoaded: () => this.#dispatchBatches(),
      onExit: () => {
        countRestart();
        this.#handleExit();
      },
    });
    this.#stepSeconds = options.metrics.histogram(
      'vad_step_seconds',
      'Duration of one inference step of voice activity detection, over frames of many streams.',
      [],
      STEP_SECONDS_BUCKETS,
    );
    this.#audioSeconds = options.metrics.counter(
      'vad_audio_seconds_total',
      'Audio checked for voice activity, by the method that classified it.',
      ['method'],
    );
    options.metrics.gauge(
      'vad_open_streams',
      'Open streams of voice activity detection.',
      () => this.#streams.size,
    );
  }

  async start(): Promise<void> {
    await this.#process.start();
  }

  openStream(settings: VadSettings, rateHz: number): VadStream {
    requireSettings(settings);
    if (this.#closed) throw shuttingDown();
    this.#lastId += 1;
    const stream = new SileroStream({
      id: this.#lastId,
      settings,
      rateHz,
      maxBufferedMs: this.#options.maxBufferedMs ?? MAX_BUFFERED_MS,
      onWritten: (each) => {
        this.#ready.add(each);
        this.#dispatchBatches();
      },
      onClosed: (each) => this.#removeStream(each),
    });
    this.#streams.add(stream);
    return stream;
  }

  ready(): ReadyReport {
    const ready = this.#process.loaded;
    return { ready, detail: ready ? 'silero, cpu' : 'voice activity process is starting' };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const stream of [...this.#streams]) stream.fail(shuttingDown());
    await this.#process.close();
  }

  #removeStream(stream: SileroStream): void {
    this.#streams.delete(stream);
    this.#ready.delete(stream);
    if (this.#stateful.delete(stream)) this.#process.send({ kind: 'drop-streams', streams: [stream.id] });
  }

  /** Classifies quiet frames and sends the next batch, unless one is in flight. */
  #dispatchBatches(): void {
    if (this.#batch) return;
    if (!this.#process.loaded) {
      if (this.#process.failing) for (const stream of [...this.#ready]) stream.fail(notLoaded());
      return;
    }
    const batch: Batch = { streams: [], ids: [], rows: [] };
    let quietFrames = 0;
    // A stream with more audio after its quiet frames is added again at the end of the set.
    for (const stream of this.#ready) {
      if (batch.rows.length >= FULL_BATCH_ROWS || quietFrames >= MAX_QUIET_FRAMES) break;
      this.#ready.delete(stream);
      const frames = stream.takeFrames();
      const rows = frames.flatMap(({ row }) => row ?? []);
      this.#audioSeconds.add({ method: 'model' }, rows.length * FRAME_SECONDS);
      this.#audioSeconds.add({ method: 'energy_gate' }, (frames.length - rows.length) * FRAME_SECONDS);
      if (rows.length === 0) {
        quietFrames += frames.length;
        this.#apply(stream, []);
      } else {
        batch.streams.push({ stream, rows: rows.length });
        for (const row of rows) {
          batch.ids.push(stream.id);
          batch.rows.push(row);
        }
      }
    }
    if (batch.rows.length > 0) this.#sendBatch(batch);
    // Yields to other work of the serving thread.
    else if (this.#ready.size > 0) setImmediate(() => this.#dispatchBatches());
  }

  #sendBatch(batch: Batch): void {
    this.#batch = batch;
    this.#sentMs = systemClock.monotonicMs();
    for (const { stream } of batch.streams) this.#stateful.add(stream);
    const audio = new Float32Array(batch.rows.length * BATCH_ROW_SAMPLES);
    for (const [index, row] of batch.rows.entries()) audio.set(row, index * BATCH_ROW_SAMPLES);
    this.#process.startWatchdog(this.#options.batchTimeoutMs ?? BATCH_TIMEOUT_MS);
    this.#process.send({ kind: 'classify', streams: Uint32Array.from(batch.ids), audio });
  }

  #applyBatch(probabilities: Float32Samples): void {
    this.#process.stopWatchdog();
    this.#stepSeconds.observe({}, (systemClock.monotonicMs() - this.#sentMs) / 1000);
    let offset = 0;
    for (const { stream, rows } of this.#batch?.streams ?? []) {
      this.#apply(stream, probabilities.subarray(offset, offset + rows));
      offset += rows;
    }
    this.#batch = undefined;
    this.#dispatchBatches();
  }

  #apply(stream: SileroStream, probabilities: Iterable<number>): void {
    stream.applyProbabilities(probabilities);
    if (stream.hasCalls) this.#ready.add(stream);
  }

  /** Fails every stream whose state was in the crashed process. */
  #handleExit(): void {
    this.#batch = undefined;
    const crashed = new ServiceError(
      'internal',
      'Voice activity detection crashed and is restarting. Open the stream again.',
      { code: 'worker_crashed' },
    );
    for (const stream of [...this.#stateful]) stream.fail(crashed);
    this.#dispatchBatches();
  }
}

interface Batch {
  /** Streams in order, with their numbers of rows. */
  readonly streams: { readonly stream: SileroStream; readonly rows: number }[];
  /** Stream id of each row. */
  readonly ids: number[];
  readonly rows: Float32Samples[];
}

/** @throws RangeError for a setting outside of its range. */
function requireSettings(settings: VadSettings): void {
  const { threshold, prefixPaddingMs, silenceDurationMs, minSpeechDurationMs } = settings;
  if (!(threshold >= 0 && threshold <= 1)) throw new RangeError(`threshold ${threshold} is not within 0–1`);
  for (const [name, ms] of Object.entries({ prefixPaddingMs, silenceDurationMs, minSpeechDurationMs })) {
    if (!(ms >= 0 && ms <= MAX_SETTING_MS)) {
      throw new RangeError(`${name} ${ms} is not within 0–${MAX_SETTING_MS}`);
    }
  }
}

function notLoaded(): ServiceError {
  return new ServiceError(
    'overloaded',
    'Voice activity detection failed to start. The service is retrying.',
    {
      code: 'server_overloaded',
      retryAfterS: RETRY_AFTER_S,
    },
  );
}
