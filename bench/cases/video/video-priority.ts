/** Latency of realtime transcripts while two video segments are generated, with real models. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExtensionRequest, VideoEngine } from '../../../src/contract/engines/video.ts';
import { continuationEngine } from '../../../src/engines/continuation/host/engine.ts';
import { clipReader } from '../../../src/media/clips/clip-reader.ts';
import { silentLog } from '../../../tools/harness/doubles/doubles.ts';
import { makeClips } from '../../../tools/harness/media/video-files.ts';
import { launchService } from '../../../tools/harness/services/launcher.ts';
import { openInteractiveRequests, type Times, timeLiveWork } from '../../batch/interactive-requests.ts';
import { report } from '../../report.ts';
import { median, quantile } from '../../statistics.ts';

const ROUNDS = 8;
/** Samples per round. All rounds together have several values above the 99th percentile. */
const TIMES_OF_ROUND = 60;
const WARM_UP = 3;
/** Maximum of the 99th percentile, relative to the latency without segments. */
const MAX_TIMES = 1.2;
const CONCURRENT_SEGMENTS = 2;
const CLIP = { name: 'pan.mp4', scene: 'pan', videoCodec: 'avc', audioCodec: 'aac' } as const;
const SHAPE = { width: 1280, height: 720, fps: 24, seconds: 3 };

export async function benchVideoPriority(): Promise<void> {
  const opened = new AsyncDisposableStack();
  try {
    const folder = await mkdtemp(join(tmpdir(), 'voice-service-bench-'));
    opened.defer(() => rm(folder, { recursive: true }));
    const [clip = ''] = await makeClips(folder, [{ ...CLIP, ...SHAPE }]);
    const reader = opened.adopt(clipReader({ environment: {} }), (it) => it.close());
    const facts = await reader.measure(clip, 'video', new AbortController().signal);
    const engine = opened.adopt(continuationEngine({ environment: {}, log: silentLog }), (it) => it.close());
    const service = opened.adopt(await launchService(), async (it) => {
      await it.stop();
    });
    const live = opened.adopt(await openInteractiveRequests(service), (it) => it.close());
    const [realtime] = live.kinds;
    if (!realtime) throw new Error('the realtime work is missing');
    const kinds = [{ ...realtime, times: TIMES_OF_ROUND }];
    for (let at = 0; at < WARM_UP; at += 1) await realtime.once();
    const [alone, concurrent]: [Times, Times] = [new Map(), new Map()];
    let segments = 0;
    let concurrentMs = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      await timeLiveWork(kinds, alone);
      const stop = new AbortController();
      const generating = Array.from({ length: CONCURRENT_SEGMENTS }, (_, at) =>
        generateSegments(engine, { clip, facts }, join(folder, `segment-${at}`), stop.signal),
      );
      const startMs = performance.now();
      await timeLiveWork(kinds, concurrent);
      concurrentMs += performance.now() - startMs;
      stop.abort();
      for (const count of await Promise.all(generating)) segments += count;
    }
    const { name } = realtime;
    const [ours, peer] = [concurrent.get(name) ?? [], alone.get(name) ?? []];
    const part = (share: number) => ({
      ours: quantile(ours, share),
      peer: quantile(peer, share),
      unit: 'ms',
    });
    const rows = [
      { measure: `${name}, median`, ours: median(ours), peer: median(peer), unit: 'ms' },
      { measure: `${name}, 95 %`, ...part(0.95) },
      { measure: `${name}, 99 %`, ...part(0.99), target: MAX_TIMES },
    ];
    const rate = {
      measure: 'segments of 8 s created in this time',
      ours: segments / (concurrentMs / 60_000),
      unit: 'a minute',
    };
    await report(
      'video-priority',
      `Realtime while ${CONCURRENT_SEGMENTS} segments of 720p are generated`,
      [rate, ...rows],
      [
        `This service: during generation. Baseline: without it. ${ROUNDS} alternating rounds of ${TIMES_OF_ROUND} samples each, on the same process.`,
      ],
    );
  } finally {
    await opened.disposeAsync();
  }
}

/** Generates segments until the signal fires. @returns their number. */
async function generateSegments(
  engine: VideoEngine,
  source: Pick<ExtensionRequest, 'clip' | 'facts'>,
  to: string,
  signal: AbortSignal,
): Promise<number> {
  const request: ExtensionRequest = {
    ...source,
    width: SHAPE.width,
    height: SHAPE.height,
    seconds: 8,
    audio: true,
    prompt: 'on',
    savedState: undefined,
    video: 'video_bench' as ExtensionRequest['video'],
  };
  for (let count = 0; ; count += 1) {
    try {
      await engine.extend(request, { to, saveState: async () => undefined }, signal);
    } catch (error) {
      if (signal.aborted) return count;
      throw error;
    }
  }
}
