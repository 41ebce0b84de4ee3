/** What two segments that are being made add to the time that a realtime session waits for words, on one service with real models. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExtensionRequest, VideoEngine } from '../../src/contract/engines/video.ts';
import { continuationEngine } from '../../src/engines/continuation/host/engine.ts';
import { clipReader } from '../../src/media/clips/clip-reader.ts';
import { silentLog } from '../../tools/harness/doubles/doubles.ts';
import { makeClips } from '../../tools/harness/media/video-files.ts';
import { launchService } from '../../tools/harness/services/launcher.ts';
import { openLiveWork, type Times, timeLiveWork } from '../batch/live-work.ts';
import { report } from '../report.ts';
import { median, quantile } from '../statistics.ts';

const ROUNDS = 8;
/** Enough that one in a hundred is more than one. */
const TIMES_OF_ROUND = 60;
const WARM_UP = 3;
/** Of the time without segments, in the 99th percentile. */
const MAX_TIMES = 1.2;
const AT_ONCE = 2;
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
    const live = opened.adopt(await openLiveWork(service), (it) => it.close());
    const [realtime] = live.kinds;
    if (!realtime) throw new Error('the realtime work is missing');
    const kinds = [{ ...realtime, times: TIMES_OF_ROUND }];
    for (let at = 0; at < WARM_UP; at += 1) await realtime.once();
    const [alone, beside]: [Times, Times] = [new Map(), new Map()];
    let segments = 0;
    let besideMs = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      await timeLiveWork(kinds, alone);
      const stop = new AbortController();
      const making = Array.from({ length: AT_ONCE }, (_, at) =>
        makeOn(engine, { clip, facts }, join(folder, `segment-${at}`), stop.signal),
      );
      const startMs = performance.now();
      await timeLiveWork(kinds, beside);
      besideMs += performance.now() - startMs;
      stop.abort();
      for (const made of await Promise.all(making)) segments += made;
    }
    const { name } = realtime;
    const [ours, peer] = [beside.get(name) ?? [], alone.get(name) ?? []];
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
      ours: segments / (besideMs / 60_000),
      unit: 'a minute',
    };
    await report(
      'video-priority',
      `Realtime while ${AT_ONCE} segments of 720p are made`,
      [rate, ...rows],
      [
        `Ours: while they are made. Peer: the same without. ${ROUNDS} rounds of ${TIMES_OF_ROUND} of each in turn, on the same process.`,
      ],
    );
  } finally {
    await opened.disposeAsync();
  }
}

/** Makes one segment after the other. @returns how many were done before the signal. */
async function makeOn(
  engine: VideoEngine,
  source: Pick<ExtensionRequest, 'clip' | 'facts'>,
  to: string,
  signal: AbortSignal,
): Promise<number> {
  const request: ExtensionRequest = {
    ...source,
    ...{
      width: SHAPE.width,
      height: SHAPE.height,
      seconds: 8,
      audio: true,
      prompt: 'on',
      savedState: undefined,
    },
    video: 'video_bench' as ExtensionRequest['video'],
  };
  for (let made = 0; ; made += 1) {
    try {
      await engine.extend(request, { to, saveState: async () => undefined }, signal);
    } catch (error) {
      if (signal.aborted) return made;
      throw error;
    }
  }
}
