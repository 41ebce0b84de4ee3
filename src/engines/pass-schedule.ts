/**
 * Which waiting job gets the next pass. Classes are strict: realtime, interactive, batch. Inside a class:
 *
 * - A streaming job is due when its listener has nothing left to play: at its arrival, or, once it has
 *   delivered, at the time of its first delivery plus the audio delivered since. A job that continues
 *   earlier speech of the same listener is first due when that speech ends. Results that nobody listens to
 *   (text) add no time, so their job is due from its arrival on.
 * - Jobs that nobody hears before their end (`whole`) stand in one line by arrival. The line as such is
 *   due {@link WHOLE_PATIENCE_MS} after it was last served, so it fills the time that streams leave and
 *   still moves when streams want everything.
 * - Jobs that are due take turns: the one that has waited longest since its last pass goes first. When
 *   none is due, the one that will be due first does (earliest deadline first).
 *
 * So no job of the highest waiting class starves: once it is due, each job that is served goes behind it.
 */

import type { Priority, SynthesisRequest } from '../contract/engine.ts';

/** How long the line of `whole` jobs yields to streams that are about to run dry. */
export const WHOLE_PATIENCE_MS = 2_000;

const CLASS_RANK: Readonly<Record<Priority, number>> = { realtime: 0, interactive: 1, batch: 2 };

/** What the schedule needs to know of a job that could run its next pass now. Times are monotonic, ms. */
export interface WaitingJob {
  readonly priority: Priority;
  readonly delivery: SynthesisRequest['delivery'];
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

/** When the line of `whole` jobs of each class was last given a pass. */
export type WholeServed = Partial<Record<Priority, number>>;

/** The time by which the job wants its next pass to have run. */
export function dueMs(job: WaitingJob, wholeServed: WholeServed): number {
  if (job.delivery === 'whole') return waitingSinceMs(job, wholeServed) + WHOLE_PATIENCE_MS;
  const heardFromMs = Math.max(job.firstAudioMs ?? 0, job.arrivedMs + job.aheadMs);
  return heardFromMs + job.audioMs;
}

function waitingSinceMs(job: WaitingJob, wholeServed: WholeServed): number {
  if (job.delivery === 'whole') return Math.max(job.arrivedMs, wholeServed[job.priority] ?? 0);
  return job.servedMs ?? job.arrivedMs;
}

/** The job to run next, or undefined when none waits. Of equal jobs the one that arrived first. */
export function nextJob<Job extends WaitingJob>(
  jobs: Iterable<Job>,
  wholeServed: WholeServed,
  nowMs: number,
): Job | undefined {
  let best: { readonly job: Job; readonly rank: readonly number[] } | undefined;
  for (const job of jobs) {
    const rank = rankOf(job, wholeServed, nowMs);
    if (best === undefined || isLess(rank, best.rank)) best = { job, rank };
  }
  return best?.job;
}

/** Sorts before another: compared element by element. */
function rankOf(job: WaitingJob, wholeServed: WholeServed, nowMs: number): readonly number[] {
  const jobDueMs = dueMs(job, wholeServed);
  const isDue = jobDueMs <= nowMs;
  return [
    CLASS_RANK[job.priority],
    isDue ? 0 : 1,
    isDue ? waitingSinceMs(job, wholeServed) : jobDueMs,
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
