/** Segments that continue ten clips: quality of the seam, time and memory. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContinuationJob } from '../../../src/engines/continuation/shared/protocol.ts';
import { clipReader } from '../../../src/media/clips/clip-reader.ts';
import { type ClipRecipe, makeClips, TEN_CLIPS } from '../../../tools/harness/media/video-files.ts';
import { report } from '../../report.ts';
import type { JudgedSegment, MadeSegment, SegmentOrder } from '../../video/segment-process.ts';

const ENTRY = join(import.meta.dirname, '../../video/segment-process.ts');
const SECONDS = 8;
/** Clips for the speed: 720p with motion, so that most frames are generated. */
const LARGE: readonly ClipRecipe[] = (['pan', 'talking', 'turning'] as const).map((scene) => ({
  name: `${scene}-720p.mp4`,
  scene,
  videoCodec: 'avc',
  audioCodec: 'aac',
  width: 1280,
  height: 720,
  fps: 24,
  seconds: 3,
}));

interface Outcome {
  readonly name: string;
  readonly made: MadeSegment;
  readonly peakMb: number;
  readonly judged: JudgedSegment;
  readonly missingFrames: number;
}

export async function benchVideo(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'voice-service-bench-'));
  const outcomes: Outcome[] = [];
  try {
    const recipes = [...TEN_CLIPS, ...LARGE];
    for (const [index, clip] of (await makeClips(folder, recipes)).entries()) {
      outcomes.push(await continueClip(recipes[index]?.name ?? '', clip));
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  const large = outcomes.slice(TEN_CLIPS.length);
  const worst = (of: (outcome: Outcome) => number) => Math.max(...outcomes.map(of));
  await report(
    'video',
    `Segments of ${SECONDS} s after ${TEN_CLIPS.length} clips, and after ${LARGE.length} of 720p`,
    [
      {
        measure: 'seam, 1 - SSIM, worst',
        ours: worst(({ judged }) => 1 - judged.seamSimilarity),
        unit: '',
        target: 0.05,
      },
      {
        measure: 'seam, step of light, worst',
        ours: 100 * worst(({ judged }) => judged.seamStep),
        unit: '%',
        target: 2,
      },
      {
        measure: 'step of light anywhere, worst',
        ours: 100 * worst(({ judged }) => judged.largestStep),
        unit: '%',
        target: 2,
      },
      {
        measure: 'frames too many or too few, worst',
        ours: worst(({ missingFrames }) => missingFrames),
        unit: '',
        target: 1,
      },
      ...large.map(({ name, made, judged }) => ({
        measure: `${name}: made, and encoded alone`,
        ours: made.tookMs / 1000,
        peer: judged.tookMs / 1000,
        unit: 's',
        target: 3,
      })),
      {
        measure: 'peak memory of a process, worst',
        ours: worst(({ peakMb }) => peakMb),
        unit: 'MB',
        target: 1024,
      },
    ],
    outcomes.map(noteOf),
  );
}

async function continueClip(name: string, clip: string): Promise<Outcome> {
  const reader = clipReader({ environment: {} });
  try {
    const facts = await reader.measure(clip, 'video', new AbortController().signal);
    const { width, height, fps, frames } = facts;
    const job = {
      clip,
      to: `${clip}.segment`,
      width,
      height,
      fps,
      frames,
      audioExcessS: 0,
      seconds: SECONDS,
      audio: true,
    };
    const { result: made, peakMb } = await runOrder<MadeSegment>({ kind: 'make', job });
    const { result: judged } = await runOrder<JudgedSegment>({ kind: 'judge', job });
    return { name, made, peakMb, judged, missingFrames: missing(job, judged) };
  } finally {
    await reader.close();
  }
}

function missing({ seconds, fps }: ContinuationJob, { frames }: JudgedSegment): number {
  return Math.abs(frames - Math.round(seconds * fps));
}

async function runOrder<Result>(order: SegmentOrder): Promise<{ result: Result; peakMb: number }> {
  const child = Bun.spawn([process.execPath, ENTRY, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`the process of ${order.job.clip} failed`);
  return { result: JSON.parse(output) as Result, peakMb: (child.resourceUsage()?.maxRSS ?? 0) / 2 ** 20 };
}

function noteOf({ name, made, judged, peakMb }: Outcome): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const percent = (share: number) => (100 * share).toFixed(2);
  return (
    `${name}: SSIM at the seam ${judged.seamSimilarity.toFixed(4)}; brightness steps ${percent(judged.seamStep)} % at the seam, ` +
    `at most ${percent(judged.largestStep)} % (end of the clip: ${percent(judged.clipStep)} %); ${judged.frames} frames in ` +
    `${seconds(made.tookMs)} s (${seconds(made.coreMs)} s of cores), encoding alone ${seconds(judged.tookMs)} s ` +
    `(${seconds(judged.coreMs)} s); ${Math.round(peakMb)} MB.`
  );
}
