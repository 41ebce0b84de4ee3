/**
 * Which waiting job gets the next pass. Classes are strict: realtime, interactive, batch. Inside a class:
 *
 * - A streaming job is due when its listener has nothing left to play: at its arrival, or, once it has
 *   delivered, at the time of its first delivery plus the audio delivered since. A job that continues
 *   earlier speech of the same listener is first due when that speech ends.
 * - Jobs that nobody hears before their end (`whole`) stand in one line by arrival, and so do jobs whose results
 *   are read (`text`). The line of whole jobs is due {@link WHOLE_PATIENCE_MS} after it was last served, so it
 *   fills the time that streams leave and still moves when streams want everything; the line of texts is always
 *   due. The first of a line runs to its end: taking turns would only make everybody wait for the last, and each
 *   job that has begun holds memory.
 * - Jobs that are due take turns: the one that has waited longest since its last pass goes first. When
 *   none is due, the one that will be due first does (earliest deadline first).
 *
 * So no job of the highest waiting class starves: once it is due, each job that is served goes behind it.
 */

import type { Priority, SynthesisRequest } from '../contract/engine.ts';

/** How long the line of `whole` jobs yields to streams that are about to run dry. */
export const WHOLE_PATIENCE_MS = 2_000;

/** What becomes of a job's results; `text` is read as it comes. */
export type Delivery = SynthesisRequest['delivery'] | 'text';

const CLASS_RANK: Readonly<Record<Priority, number>> = { realtime: 0, interactive: 1, batch: 2 };

/** What the schedule needs to know of a job that could run its next pass now. Times are monotonic, ms. */
export interface WaitingJob {
  readonly priority: Priority;
  readonly delivery: Delivery;
  readonly arrivedMs: number;
  /** Unplayed audio of the same listener at arrival, in ms. */
  readonly aheadMs: number;
  /** When its last pass was over. */
  readonly servedMs: number | undefined;
  /** When the first audio of this job was delivered. */
  readonly firstAudioMs: number | undefined;
  /** Length of the audio that this job has delivered, in ms. */
  readonly audioMs: number;
}

/** When each line of each class was last given a pass. */
export type LinesServed = Partial<Record<`${Priority} ${Delivery}`, number>>;

/** The line that a job stands in. */
export function lineOf({ priority, delivery }: WaitingJob): keyof LinesServed {
  return `${priority} ${delivery}`;
}

/** The time by which the job wants its next pass to have run. */
export function dueMs(job: WaitingJob, linesServed: LinesServed): number {
  switch (job.delivery) {
    case 'whole':
      return waitingSinceMs(job, linesServed) + WHOLE_PATIENCE_MS;
    case 'text':
      return job.arrivedMs;
    case 'stream':
      return Math.max(job.firstAudioMs ?? 0, job.arrivedMs + job.aheadMs) + job.audioMs;
  }
}

function waitingSinceMs(job: WaitingJob, linesServed: LinesServed): number {
  if (job.delivery === 'stream') return job.servedMs ?? job.arrivedMs;
  return Math.max(job.arrivedMs, linesServed[lineOf(job)] ?? 0);
}

/** The job to run next, or undefined when none waits. Of equal jobs the one that arrived first. */
export function nextJob<Job extends WaitingJob>(
  jobs: Iterable<Job>,
  linesServed: LinesServed,
  nowMs: number,
): Job | undefined {
  let best: { readonly job: Job; readonly rank: readonly number[] } | undefined;
  for (const job of jobs) {
    const rank = rankOf(job, linesServed, nowMs);
    if (best === undefined || isLess(rank, best.rank)) best = { job, rank };
  }
  return best?.job;
}

/** Sorts before another: compared element by element. */
function rankOf(job: WaitingJob, linesServed: LinesServed, nowMs: number): readonly number[] {
  const jobDueMs = dueMs(job, linesServed);
  const isDue = jobDueMs <= nowMs;
  return [
    CLASS_RANK[job.priority],
    isDue ? 0 : 1,
    isDue ? waitingSinceMs(job, linesServed) : jobDueMs,
    job.arrivedMs,
  ];
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  for (const [at, value] of a.entries()) {
    const other = b[at] ?? 0;
    if (value !== other) return value < other;
  }
  return false;
}
