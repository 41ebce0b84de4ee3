/**
 * Selects the job that runs the next inference step. Priority classes are strict: realtime, interactive, batch. Within
 * a class:
 *
 * - A `stream` job is due at its arrival, and, after its first delivery, {@link RESERVE_MS} before its listener has played
 *   the audio delivered since: other jobs run for as long as a step before it is served. A job that continues earlier
 *   speech of the same listener is first due {@link RESERVE_MS} before that speech ends.
 * - `whole` jobs, whose results are delivered at their end, form one FIFO queue, and so do `text` jobs, whose results
 *   have no playback deadline. The queue of whole jobs is due {@link WHOLE_YIELD_MS} after it was last served, so it
 *   uses the time that streams leave free and still progresses under a full load of streams. The queue of texts is
 *   always due. The first job of a queue runs to its end, because alternating between jobs would delay all of them and
 *   every started job holds memory.
 * - Among due jobs, the one with the longest time since its last step is first. If none is due, the one with the
 *   earliest due time is first (earliest deadline first).
 * - While due jobs belong to several API keys, a job of the key that has used the least time is first, and so is the
 *   next job to start from a queue ({@link ServedTime}). A key with many jobs delays its own jobs; a key with few, whose
 *   steps together take no longer than one step of each other key, waits for the running step only.
 *
 * No job of the highest waiting class starves: once it is due, every job that is served moves behind it.
 */

import type { Priority, SynthesisRequest } from '../../contract/engines/engine.ts';
import type { Flow, ServedTime } from './served-time.ts';

/** Time that the queue of `whole` jobs yields to streams that are about to underrun, in ms. */
export const WHOLE_YIELD_MS = 2_000;

/** Unplayed audio of a listener below which the next step of its stream is due, in ms: most steps take less. */
export const RESERVE_MS = 400;

/** Delivery of a job's results. `text`: results without a playback deadline, delivered as they come. */
export type Delivery = SynthesisRequest['delivery'] | 'text';

const CLASS_RANK: Readonly<Record<Priority, number>> = { realtime: 0, interactive: 1, batch: 2 };

/** Scheduling state of a job that could run its next step now. Times are monotonic, in ms. */
export interface WaitingJob extends Flow {
  readonly delivery: Delivery;
  readonly arrivedMs: number;
  /** Unplayed audio of the same listener at arrival, in ms. */
  readonly aheadMs: number;
  /** When its last step finished. */
  readonly servedMs: number | undefined;
  /** When its first audio was delivered. */
  readonly firstAudioMs: number | undefined;
  /** Duration of the audio that it has delivered, in ms. */
  readonly audioMs: number;
}

type QueueKey = `${Priority} ${Delivery}`;

/** What has been served until now. */
export interface Served {
  /** Time of the last step of each queue, monotonic, in ms. */
  readonly queues: Partial<Record<QueueKey, number>>;
  readonly keys: Pick<ServedTime, 'usedMs'>;
}

/** Key of the queue of a job. */
export function queueKeyOf({ priority, delivery }: WaitingJob): QueueKey {
  return `${priority} ${delivery}`;
}

/** Deadline of the next step of a job. */
export function dueMs(job: WaitingJob, queues: Served['queues']): number {
  switch (job.delivery) {
    case 'whole':
      return Math.max(job.arrivedMs, queues[queueKeyOf(job)] ?? 0) + WHOLE_YIELD_MS;
    case 'text':
      return job.arrivedMs;
    case 'stream':
      return Math.max(job.arrivedMs, playedMs(job) - RESERVE_MS);
  }
}

/** When the listener of a stream has played all audio so far. */
function playedMs(job: WaitingJob): number {
  return Math.max(job.firstAudioMs ?? 0, job.arrivedMs + job.aheadMs) + job.audioMs;
}

/** Returns the job to run next, or undefined if none waits. Of equal jobs, the one that arrived first. */
export function nextJob<Job extends WaitingJob>(
  jobs: Iterable<Job>,
  served: Served,
  nowMs: number,
): Job | undefined {
  const heads = [...queueHeads(jobs, served)];
  const highest = Math.min(...heads.map(({ priority }) => CLASS_RANK[priority]));
  const candidates = heads.filter(({ priority }) => CLASS_RANK[priority] === highest);
  const due = candidates.filter((job) => dueMs(job, served.queues) <= nowMs);
  if (due.length === 0)
    return minByRank(candidates, (job) => [dueMs(job, served.queues), ...waitingRank(job, served)]);
  // Fairness between API keys applies only while several of them have due jobs.
  const compete = due.some(({ fairnessKey }) => fairnessKey !== due[0]?.fairnessKey);
  return minByRank(due, (job) => [compete ? served.keys.usedMs(job) : 0, ...waitingRank(job, served)]);
}

/** Every stream, and the head of each queue: the started job, or else a job of the key that has used the least time. */
function* queueHeads<Job extends WaitingJob>(jobs: Iterable<Job>, served: Served): Generator<Job> {
  const waitingByQueue = new Map<QueueKey, Job[]>();
  for (const job of jobs) {
    if (job.delivery === 'stream') {
      yield job;
      continue;
    }
    const key = queueKeyOf(job);
    const waiting = waitingByQueue.get(key);
    if (waiting) waiting.push(job);
    else waitingByQueue.set(key, [job]);
  }
  for (const queue of waitingByQueue.values()) {
    const head = minByRank(queue, (job) => [
      job.servedMs === undefined ? 1 : 0,
      job.servedMs === undefined ? served.keys.usedMs(job) : 0,
      job.arrivedMs,
    ]);
    if (head !== undefined) yield head;
  }
}

/** Longest wait first, then first arrival. */
function waitingRank(job: WaitingJob, { queues }: Served): readonly number[] {
  const sinceMs =
    job.delivery === 'stream'
      ? (job.servedMs ?? job.arrivedMs)
      : Math.max(job.arrivedMs, queues[queueKeyOf(job)] ?? 0);
  return [sinceMs, job.arrivedMs];
}

/** The item with the lowest rank, compared element by element. Of equals, the first. */
function minByRank<Item>(items: Iterable<Item>, rankOf: (item: Item) => readonly number[]): Item | undefined {
  let best: { readonly item: Item; readonly rank: readonly number[] } | undefined;
  for (const item of items) {
    const rank = rankOf(item);
    if (best === undefined || isLower(rank, best.rank)) best = { item, rank };
  }
  return best?.item;
}

function isLower(a: readonly number[], b: readonly number[]): boolean {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    if (value !== other) return value < other;
  }
  return false;
}
