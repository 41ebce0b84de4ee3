/**
 * Selects the job that runs the next inference step. Priority classes are strict: realtime, interactive, batch. Within
 * a class:
 *
 * - A `stream` job is due when its listener has no audio left to play: at its arrival, or, after its first delivery,
 *   at the time of that delivery plus the audio delivered since. A job that continues earlier speech of the same
 *   listener is first due when that speech ends.
 * - `whole` jobs, whose results are delivered at their end, form one FIFO queue, and so do `text` jobs, whose results
 *   have no playback deadline. The queue of whole jobs is due {@link WHOLE_YIELD_MS} after it was last served, so it
 *   uses the time that streams leave free and still progresses under a full load of streams. The queue of texts is
 *   always due. The first job of a queue runs to its end, because alternating between jobs would delay all of them and
 *   every started job holds memory.
 * - Among due jobs, the one with the longest time since its last step is first. If none is due, the one with the
 *   earliest due time is first (earliest deadline first).
 * - While due jobs belong to several API keys, the stream of the key that was served least recently is first, and so is
 *   the next job to start from a queue. A key with many jobs delays its own jobs; a key with few waits for one step of
 *   each other key.
 *
 * No job of the highest waiting class starves: once it is due, every job that is served moves behind it.
 */

import type { Priority, SynthesisRequest } from '../../contract/engines/engine.ts';

/** Time that the queue of `whole` jobs yields to streams that are about to underrun, in ms. */
export const WHOLE_YIELD_MS = 2_000;

/** Delivery of a job's results. `text`: results without a playback deadline, delivered as they come. */
export type Delivery = SynthesisRequest['delivery'] | 'text';

const CLASS_RANK: Readonly<Record<Priority, number>> = { realtime: 0, interactive: 1, batch: 2 };

/** Scheduling state of a job that could run its next step now. Times are monotonic, in ms. */
export interface WaitingJob {
  readonly priority: Priority;
  /** Fairness key: the id of the API key that the job runs for. */
  readonly fairnessKey: string;
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

/** Times of the last steps, monotonic, in ms. */
export interface ServedTimes {
  /** Last step of each queue. */
  readonly queues: Partial<Record<QueueKey, number>>;
  /** Last step per fairness key. A key without an entry precedes all others. */
  readonly fairnessKeys: ReadonlyMap<string, number>;
}

/** Key of the queue of a job. */
export function queueKeyOf({ priority, delivery }: WaitingJob): QueueKey {
  return `${priority} ${delivery}`;
}

/** Deadline of the next step of a job. */
export function dueMs(job: WaitingJob, queues: ServedTimes['queues']): number {
  switch (job.delivery) {
    case 'whole':
      return Math.max(job.arrivedMs, queues[queueKeyOf(job)] ?? 0) + WHOLE_YIELD_MS;
    case 'text':
      return job.arrivedMs;
    case 'stream':
      return Math.max(job.firstAudioMs ?? 0, job.arrivedMs + job.aheadMs) + job.audioMs;
  }
}

/** Returns the job to run next, or undefined if none waits. Of equal jobs, the one that arrived first. */
export function nextJob<Job extends WaitingJob>(
  jobs: Iterable<Job>,
  served: ServedTimes,
  nowMs: number,
): Job | undefined {
  const candidates = [...queueHeads(jobs, served)];
  const due = candidates.filter((job) => dueMs(job, served.queues) <= nowMs);
  // Fairness between API keys applies only while several of them have due jobs.
  const compete = due.some(({ fairnessKey }) => fairnessKey !== due[0]?.fairnessKey);
  return minByRank(candidates, (job) => {
    const jobDueMs = dueMs(job, served.queues);
    const isDue = jobDueMs <= nowMs;
    const waitingSinceMs = sinceMs(job, served.queues);
    // A queue counts as one participant, whichever job is at its head.
    const turnMs = compete && job.delivery === 'stream' ? servedMs(job, served) : waitingSinceMs;
    return [
      CLASS_RANK[job.priority],
      isDue ? 0 : 1,
      isDue ? turnMs : jobDueMs,
      waitingSinceMs,
      job.arrivedMs,
    ];
  });
}

/** Every stream, and the head of each queue: the started job, or else a job of the key served least recently. */
function* queueHeads<Job extends WaitingJob>(jobs: Iterable<Job>, served: ServedTimes): Generator<Job> {
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
      job.servedMs === undefined ? servedMs(job, served) : 0,
      job.arrivedMs,
    ]);
    if (head !== undefined) yield head;
  }
}

/** The time since which a job waits for its next step. */
function sinceMs(job: WaitingJob, queues: ServedTimes['queues']): number {
  if (job.delivery === 'stream') return job.servedMs ?? job.arrivedMs;
  return Math.max(job.arrivedMs, queues[queueKeyOf(job)] ?? 0);
}

/** The time of the last step of the fairness key of a job. */
function servedMs({ fairnessKey }: WaitingJob, { fairnessKeys }: ServedTimes): number {
  return fairnessKeys.get(fairnessKey) ?? Number.NEGATIVE_INFINITY;
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
