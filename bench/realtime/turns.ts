/** What a detector that has all the time of the world finds in a clip, and with which samples it knew. */

import { loadConfig } from '../../src/config/config.ts';
import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import { DEFAULT_VAD_SETTINGS, type VadEngine } from '../../src/contract/engines/engine.ts';
import { openVad } from '../../src/engines/silero/host/engine.ts';
import { noMetrics, silentLog } from '../../tools/harness/doubles/doubles.ts';
import { SOCKET_RATE_HZ } from './appends.ts';

/** Whole pieces make up an append of any usual length, so the append that decided is known exactly. */
export const PIECE_MS = 20;
/** Written before their answers are awaited; far less than what may wait. */
const PIECES_AT_ONCE = 100;

export interface Edge {
  readonly kind: 'started' | 'stopped';
  /** End of the piece with which it was certain, in ms of the clip. */
  readonly certainMs: number;
}

/** The detector by itself, in a process of its own. */
export function openDetector(): Promise<VadEngine> {
  const { modelsDir } = loadConfig(process.env);
  return openVad({ modelsDir, environment: {}, log: silentLog, metrics: noMetrics });
}

/**
 * Where turns start and stop, in order, with the settings that a session has by default.
 * @param samples at {@link SOCKET_RATE_HZ}.
 */
export async function edgesOf(detector: VadEngine, samples: Float32Samples): Promise<Edge[]> {
  const stream = detector.openStream(DEFAULT_VAD_SETTINGS, SOCKET_RATE_HZ);
  const piece = (SOCKET_RATE_HZ * PIECE_MS) / 1000;
  const edges: Edge[] = [];
  const answers: Promise<void>[] = [];
  for (let at = 0; at < samples.length; at += piece) {
    const certainMs = ((at + piece) * 1000) / SOCKET_RATE_HZ;
    const answer = stream.write(samples.subarray(at, at + piece)).then((events) => {
      for (const { kind } of events) {
        if (kind === 'started' || kind === 'stopped') edges.push({ kind, certainMs });
      }
    });
    answers.push(answer);
    if (answers.length % PIECES_AT_ONCE === 0) await answer;
  }
  await Promise.all(answers);
  stream.close();
  return edges;
}

/** Whether a detector that waits for half a second of silence hears this as one turn. */
export async function isOneTurn(detector: VadEngine, samples: Float32Samples): Promise<boolean> {
  const kinds = (await edgesOf(detector, samples)).map(({ kind }) => kind);
  return kinds.join() === 'started,stopped';
}

/** End of the last 10 ms frame that is within 40 dB of the loudest one. */
export function speechEndMs(samples: Float32Samples, rateHz: number): number {
  const frame = rateHz / 100;
  const powers = Array.from({ length: Math.floor(samples.length / frame) }, (_, i) =>
    samples.subarray(i * frame, (i + 1) * frame).reduce((sum, sample) => sum + sample * sample, 0),
  );
  const least = Math.max(...powers) / 10_000;
  return (powers.findLastIndex((power) => power >= least) + 1) * 10;
}
