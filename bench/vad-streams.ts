/**
 * Runs streams of voice activity detection in real time. cases/voice-activity.ts runs it, bound to one core:
 * `bun bench/vad-streams.ts <models> <speech: f32 at 24 kHz> <streams> <noise, dB of full scale>`. Prints JSON.
 */

import { readFileSync } from 'node:fs';
import { DEFAULT_VAD_SETTINGS } from '../src/contract/engines/engine.ts';
import { openVad } from '../src/engines/silero/host/engine.ts';
import { noMetrics, silentLog } from '../tools/harness/doubles/doubles.ts';
import { withNoise } from '../tools/harness/media/sample-runs.ts';
import { cpuMs } from './processes.ts';

const RATE_HZ = 24_000;
const CHUNK_MS = 20;
const CHUNK_SAMPLES = (RATE_HZ * CHUNK_MS) / 1000;
const LENGTH_MS = 20_000;
const WARM_UP_MS = 2000;

/** Output of the process. */
export interface VadLoad {
  readonly wallMs: number;
  readonly servingCpuMs: number;
  readonly modelCpuMs: number;
  /** From the end of the 20 ms of a chunk to its response. */
  readonly lagsMs: { readonly median: number; readonly p99: number; readonly most: number };
  readonly turns: number;
  /** Share of the audio in finished turns. */
  readonly speechShare: number;
}

if (import.meta.main) {
  const [modelsDir = '', speech = '', streams = '', noiseDb = ''] = process.argv.slice(2);
  console.log(JSON.stringify(await runStreams(modelsDir, speech, Number(streams), Number(noiseDb))));
}

async function runStreams(
  modelsDir: string,
  speech: string,
  count: number,
  noiseDb: number,
): Promise<VadLoad> {
  const samples = withNoise(new Float32Array(await Bun.file(speech).arrayBuffer()), noiseDb);
  const chunks = Math.floor(samples.length / CHUNK_SAMPLES);
  const engine = await openVad({ modelsDir, environment: {}, log: silentLog, metrics: noMetrics });
  const [child = 0] = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').map(Number);
  const streams = Array.from({ length: count }, (_, index) => ({
    stream: engine.openStream(DEFAULT_VAD_SETTINGS, RATE_HZ),
    /** Streams differ in their position in the clip and in the time of their chunks. */
    from: Math.floor((index * chunks) / count),
    dueMs: (index * CHUNK_MS) / count,
    sent: 0,
    onset: 0,
  }));
  const lags: number[] = [];
  let turns = 0;
  let speechSamples = 0;
  const startMs = performance.now();
  const warm = { servingCpuMs: 0, modelCpuMs: 0, atMs: 0 };
  const responses: Promise<void>[] = [];
  for (let nowMs = 0; nowMs < WARM_UP_MS + LENGTH_MS; nowMs = performance.now() - startMs) {
    if (warm.atMs === 0 && nowMs >= WARM_UP_MS) {
      Object.assign(warm, { servingCpuMs: ownCpuMs(), modelCpuMs: cpuMs(child), atMs: nowMs });
    }
    for (const each of streams) {
      const dueMs = each.dueMs + each.sent * CHUNK_MS;
      if (dueMs > nowMs) continue;
      const at = ((each.from + each.sent) % chunks) * CHUNK_SAMPLES;
      each.sent += 1;
      const chunk = samples.subarray(at, at + CHUNK_SAMPLES);
      responses.push(
        each.stream.write(chunk).then((found) => {
          for (const event of found) {
            if (event.kind === 'started') each.onset = event.onsetSample;
            if (event.kind !== 'stopped') continue;
            turns += 1;
            speechSamples += event.endSample - each.onset;
          }
          if (dueMs >= WARM_UP_MS) lags.push(performance.now() - startMs - dueMs);
        }),
      );
    }
    await Bun.sleep(2);
  }
  const wallMs = performance.now() - startMs - warm.atMs;
  const servingCpuMs = ownCpuMs() - warm.servingCpuMs;
  const modelCpuMs = cpuMs(child) - warm.modelCpuMs;
  await Promise.all(responses);
  await engine.close();
  lags.sort((a, b) => a - b);
  const at = (share: number) => lags[Math.min(lags.length - 1, Math.floor(lags.length * share))] ?? 0;
  return {
    wallMs,
    servingCpuMs,
    modelCpuMs,
    lagsMs: { median: at(0.5), p99: at(0.99), most: at(1) },
    turns,
    speechShare: speechSamples / (responses.length * CHUNK_SAMPLES),
  };
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
