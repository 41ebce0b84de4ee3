/**
 * Voice activity detection by Silero (docs/decisions/voice-activity.md). The serving side: streams cut their
 * audio into frames, frames in which there is nothing to hear are judged here, and those of all streams that
 * are left go to a process of their own in one batch. One batch is under way at a time and the next collects
 * meanwhile, so batches grow with the load by themselves.
 */

import { fileURLToPath } from 'node:url';
import { ServiceError, StartError, shuttingDown } from '../../../contract/core/error.ts';
import type { Logger } from '../../../contract/core/logger.ts';
import type { Counter, Histogram, Metrics } from '../../../contract/core/metrics.ts';
import { type Float32Samples, LISTEN_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { ReadyReport, VadEngine, VadSettings, VadStream } from '../../../contract/engines/engine.ts';
import { systemClock } from '../../../kit/clock.ts';
import { restartCounter } from '../../workers/process-metrics.ts';
import { SupervisedProcess } from '../../workers/supervised-process.ts';
import { sileroFile } from '../shared/file.ts';
import { FRAME_SAMPLES } from '../shared/graph.ts';
import { BATCH_ROW_SAMPLES, type FromSilero, type LoadSilero, type ToSilero } from '../shared/protocol.ts';
import { SileroStream } from './stream.ts';

const WORKER_ENTRY = fileURLToPath(new URL('../worker/main.ts', import.meta.url));

/** A load takes 0.3 s. */
const LOAD_LIMIT_MS = 60_000;
/** A batch takes a few milliseconds. */
const BATCH_LIMIT_MS = 10_000;
const WAITING_LIMIT_MS = 30_000;
/** Rows after which a batch is closed to more streams: about 2 ms of work. */
const FULL_BATCH_ROWS = 128;
/** Quiet frames that are judged in one go: 8 s of silence, or 2 ms of work. */
const MAX_QUIET_FRAMES = 256;
/** Of each setting in ms (spec 8). */
const MAX_SETTING_MS = 5_000;
const RETRY_AFTER_S = 2;
const FRAME_SECONDS = FRAME_SAMPLES / LISTEN_RATE_HZ;
const PASS_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];

export interface VadOptions {
  readonly modelsDir: string;
  /** Everything that the process finds in its environment: never the keys of callers or upstreams. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Most audio of one stream that may wait when more of it comes. Default 30 s. */
  readonly waitingLimitMs?: number;
  readonly loadTimeoutMs?: number;
  readonly batchTimeoutMs?: number;
}

/**
 * Opens the engine and waits until its process has loaded the model.
 * @throws StartError that says what is missing.
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
  /** Streams with audio that nobody judges yet, in order of arrival. */
  readonly #ready = new Set<SileroStream>();
  /** Streams whose memory the process holds; they are lost with it. */
  readonly #known = new Set<SileroStream>();
  /** What the process is judging. */
  #batch: Batch | undefined;
  #sentMs = 0;
  #pumping = false;
  #lastId = 0;
  #closed = false;
  readonly #passSeconds: Histogram;
  readonly #audioSeconds: Counter;

  constructor(model: string, options: VadOptions) {
    this.#options = options;
    const countLost = restartCounter(options.metrics, 'voice_activity');
    this.#process = new SupervisedProcess({
      name: 'voice activity process',
      entry: WORKER_ENTRY,
      load: { model },
      environment: options.environment,
      loadTimeoutMs: options.loadTimeoutMs ?? LOAD_LIMIT_MS,
      log: options.log,
      onMessage: ({ probabilities }) => this.#judged(probabilities),
      onLoaded: () => this.#pump(),
      onExit: () => {
        countLost();
        this.#lost();
      },
    });
    this.#passSeconds = options.metrics.histogram(
      'vad_step_seconds',
      'Duration of one inference step of voice activity detection, over frames of many streams.',
      [],
      PASS_SECONDS,
    );
    this.#audioSeconds = options.metrics.counter(
      'vad_audio_seconds_total',
      'Audio checked for voice activity, by the method that classified it.',
      ['method'],
    );
    options.metrics.gauge(
      'vad_open_streams',
      'Streams of voice activity detection',
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
      waitingLimitMs: this.#options.waitingLimitMs ?? WAITING_LIMIT_MS,
      ready: (each) => {
        this.#ready.add(each);
        this.#pump();
      },
      closed: (each) => this.#forget(each),
    });
    this.#streams.add(stream);
    return stream;
  }

  ready(): ReadyReport {
    const ready = this.#process.loaded;
    return { ready, detail: ready ? 'silero, cpu' : 'its process is being started' };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const stream of [...this.#streams]) stream.fail(shuttingDown());
    await this.#process.close();
  }

  #forget(stream: SileroStream): void {
    this.#streams.delete(stream);
    this.#ready.delete(stream);
    if (this.#known.delete(stream)) this.#process.send({ kind: 'forget', streams: [stream.id] });
  }

  /** Judges what is quiet and sends the next batch, unless one is under way. */
  #pump(): void {
    if (this.#pumping || this.#batch) return;
    if (!this.#process.loaded) {
      if (this.#process.failing) for (const stream of [...this.#ready]) stream.fail(notLoaded());
      return;
    }
    this.#pumping = true;
    const batch: Batch = { streams: [], ids: [], rows: [] };
    let quietFrames = 0;
    // A stream that has more after its quiet frames comes again at the end of the set.
    for (const stream of this.#ready) {
      if (batch.rows.length >= FULL_BATCH_ROWS || quietFrames >= MAX_QUIET_FRAMES) break;
      this.#ready.delete(stream);
      const frames = stream.take();
      const rows = frames.flatMap(({ row }) => row ?? []);
      this.#audioSeconds.add({ method: 'model' }, rows.length * FRAME_SECONDS);
      this.#audioSeconds.add({ method: 'energy_gate' }, (frames.length - rows.length) * FRAME_SECONDS);
      if (rows.length === 0) {
        quietFrames += frames.length;
        stream.judged([]);
      } else {
        batch.streams.push({ stream, rows: rows.length });
        for (const row of rows) {
          batch.ids.push(stream.id);
          batch.rows.push(row);
        }
      }
    }
    this.#pumping = false;
    if (batch.rows.length > 0) this.#send(batch);
    // Other work of the serving thread comes first.
    else if (this.#ready.size > 0) setImmediate(() => this.#pump());
  }

  #send(batch: Batch): void {
    this.#batch = batch;
    this.#sentMs = systemClock.monotonicMs();
    for (const { stream } of batch.streams) this.#known.add(stream);
    const audio = new Float32Array(batch.rows.length * BATCH_ROW_SAMPLES);
    for (const [at, row] of batch.rows.entries()) audio.set(row, at * BATCH_ROW_SAMPLES);
    this.#process.startWatchdog(this.#options.batchTimeoutMs ?? BATCH_LIMIT_MS);
    this.#process.send({ kind: 'judge', streams: Uint32Array.from(batch.ids), audio });
  }

  #judged(probabilities: Float32Samples): void {
    this.#process.stopWatchdog();
    this.#passSeconds.observe({}, (systemClock.monotonicMs() - this.#sentMs) / 1000);
    let at = 0;
    for (const { stream, rows } of this.#batch?.streams ?? []) {
      stream.judged(probabilities.subarray(at, at + rows));
      at += rows;
    }
    // Only now, so that the next batch has what all of them have.
    this.#batch = undefined;
    this.#pump();
  }

  /** The process has ended, and with it the memory of every stream that it knew. */
  #lost(): void {
    this.#batch = undefined;
    const crashed = new ServiceError(
      'internal',
      'The process that detects voice activity died; a new one is being started. Open the stream again.',
      { code: 'worker_crashed' },
    );
    for (const stream of [...this.#known]) stream.fail(crashed);
    this.#pump();
  }
}

interface Batch {
  /** Streams in order, with how many rows each has. */
  readonly streams: { readonly stream: SileroStream; readonly rows: number }[];
  /** The stream of each row. */
  readonly ids: number[];
  readonly rows: Float32Samples[];
}

/** @throws RangeError for a setting that is out of its range. */
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
  return new ServiceError('overloaded', 'Voice activity detection could not be started; it is tried again.', {
    code: 'server_overloaded',
    retryAfterS: RETRY_AFTER_S,
  });
}
