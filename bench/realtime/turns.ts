/** Turn edges of a clip according to the detector alone, and the position at which they are detected. */

import { loadConfig } from '../../server/config.ts';
import type { Float32Samples } from '../../src/contract/engines/audio.ts';
import { DEFAULT_VAD_SETTINGS, type VadEngine } from '../../src/contract/engines/engine.ts';
import { openVad } from '../../src/engines/silero/host/engine.ts';
import { noMetrics, silentLog } from '../../tools/harness/doubles/doubles.ts';
import { SOCKET_RATE_HZ } from './appends.ts';

/** Append lengths are multiples of this, so that the append that completes a detection is known. */
export const PIECE_MS = 20;
/** Pieces that are written before their responses are awaited; far below the queue limit. */
const MAX_PENDING_PIECES = 100;

export interface Edge {
  readonly kind: 'started' | 'stopped';
  /** End of the piece that completes the detection, in ms of the clip. */
  readonly certainMs: number;
}

/** Opens the detector in a separate process. */
export function openDetector(): Promise<VadEngine> {
  const { modelsDir } = loadConfig(process.env);
  return openVad({ modelsDir, environment: {}, log: silentLog, metrics: noMetrics });
}

/**
 * Starts and ends of turns, in order, with the default settings of a session.
 * @param samples at {@link SOCKET_RATE_HZ}.
 */
export async function edgesOf(detector: VadEngine, samples: Float32Samples): Promise<Edge[]> {
  const stream = detector.openStream(DEFAULT_VAD_SETTINGS, SOCKET_RATE_HZ);
  const piece = (SOCKET_RATE_HZ * PIECE_MS) / 1000;
  const edges: Edge[] = [];
  const responses: Promise<void>[] = [];
  for (let at = 0; at < samples.length; at += piece) {
    const certainMs = ((at + piece) * 1000) / SOCKET_RATE_HZ;
    const response = stream.write(samples.subarray(at, at + piece)).then((events) => {
      for (const { kind } of events) {
        if (kind === 'started' || kind === 'stopped') edges.push({ kind, certainMs });
      }
    });
    responses.push(response);
    if (responses.length % MAX_PENDING_PIECES === 0) await response;
  }
  await Promise.all(responses);
  stream.close();
  return edges;
}

/** Whether the detector finds exactly one turn. */
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
  const threshold = Math.max(...powers) / 10_000;
  return (powers.findLastIndex((power) => power >= threshold) + 1) * 10;
}
