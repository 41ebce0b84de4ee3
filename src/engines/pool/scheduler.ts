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
 * - Owners take turns, too: while jobs of several are due, the stream that goes first is of the owner that was
 *   served longest ago, and so is the job of a line that begins next. So whoever asks for much waits for itself,
 *   and whoever asks for little waits for a pass of each of the others.
 *
 * So no job of the highest waiting class starves: once it is due, each job that is served goes behind it.
 */

import type { Priority, SynthesisRequest } from '../../contract/engines/engine.ts';

/** How long the line of `whole` jobs yields to streams that are about to run dry. */
export const WHOLE_PATIENCE_MS = 2_000;

/** What becomes of a job's results; `text` is read as it comes. */
export type Delivery = SynthesisRequest['delivery'] | 'text';

const CLASS_RANK: Readonly<Record<Priority, number>> = { realtime: 0, interactive: 1, batch: 2 };

/** What the schedule needs to know of a job that could run its next pass now. Times are monotonic, ms. */
export interface WaitingJob {
  readonly priority: Priority;
  /** For whom the work is done. */
  readonly owner: string;
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

type Line = `${Priority} ${Delivery}`;

/** When what was last given a pass. */
export interface Served {
  /** Each line of each class. */
  readonly lines: Partial<Record<Line, number>>;
  /** Each owner; one that is not there comes before all that are. */
  readonly owners: ReadonlyMap<string, number>;
}

/** The line that a job stands in. */
export function lineOf({ priority, delivery }: WaitingJob): Line {
  return `${priority} ${delivery}`;
}

/** The time by which the job wants its next pass to have run. */
export function dueMs(job: WaitingJob, lines: Served['lines']): number {
  switch (job.delivery) {
    case 'whole':
      return Math.max(job.arrivedMs, lines[lineOf(job)] ?? 0) + WHOLE_PATIENCE_MS;
    case 'text':
      return job.arrivedMs;
    case 'stream':
      return Math.max(job.firstAudioMs ?? 0, job.arrivedMs + job.aheadMs) + job.audioMs;
  }
}

/** The job to run next, or undefined when none waits. Of equal jobs the one that arrived first. */
export function nextJob<Job extends WaitingJob>(
  jobs: Iterable<Job>,
  served: Served,
  nowMs: number,
): Job | undefined {
  const candidates = [...heads(jobs, served)];
  const due = candidates.filter((job) => dueMs(job, served.lines) <= nowMs);
  // Only while owners compete: the streams of one alone wait for each other.
  const compete = due.some(({ owner }) => owner !== due[0]?.owner);
  return first(candidates, (job) => {
    const jobDueMs = dueMs(job, served.lines);
    const isDue = jobDueMs <= nowMs;
    const waitingSinceMs = sinceMs(job, served.lines);
    // A line takes turns with the streams as one, whoever stands at its head.
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

/** Every stream, and the head of each line: the job that has begun, or else one of the owner whose turn it is. */
function* heads<Job extends WaitingJob>(jobs: Iterable<Job>, served: Served): Generator<Job> {
  const lines = new Map<Line, Job[]>();
  for (const job of jobs) {
    if (job.delivery === 'stream') {
      yield job;
      continue;
    }
    const line = lineOf(job);
    const waiting = lines.get(line);
    if (waiting) waiting.push(job);
    else lines.set(line, [job]);
  }
  for (const line of lines.values()) {
    const head = first(line, (job) => [
      job.servedMs === undefined ? 1 : 0,
      job.servedMs === undefined ? servedMs(job, served) : 0,
      job.arrivedMs,
    ]);
    if (head !== undefined) yield head;
  }
}

/** Since when a job waits for its turn. */
function sinceMs(job: WaitingJob, lines: Served['lines']): number {
  if (job.delivery === 'stream') return job.servedMs ?? job.arrivedMs;
  return Math.max(job.arrivedMs, lines[lineOf(job)] ?? 0);
}

/** When the owner of a job was last served. */
function servedMs({ owner }: WaitingJob, { owners }: Served): number {
  return owners.get(owner) ?? Number.NEGATIVE_INFINITY;
}

/** The item with the least rank, compared element by element; of equals the first. */
function first<Item>(items: Iterable<Item>, rankOf: (item: Item) => readonly number[]): Item | undefined {
  let best: { readonly item: Item; readonly rank: readonly number[] } | undefined;
  for (const item of items) {
    const rank = rankOf(item);
    if (best === undefined || isLess(rank, best.rank)) best = { item, rank };
  }
  return best?.item;
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  for (const [at, value] of a.entries()) {
    const other = b[at] ?? 0;
    if (value !== other) return value < other;
  }
  return false;
}
