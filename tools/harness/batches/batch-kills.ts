/** Runs batches while their processes are killed repeatedly. */

import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../../src/kit/math/seeded-random.ts';
import { BATCH_ENDS, type Fetching, retrieveBatch } from '../services/batch-service.ts';
import type { LaunchedService } from '../services/launcher.ts';
import { type FinishedBatch, finishedBatch, type LineUpstream, linesOf, startBatch } from './batch-lines.ts';

/** Maximum lifetime of a process that is killed at a random time. */
const MAX_LIFE_MS = 2000;
/** Maximum wait for a condition before a kill. */
const MAX_WAIT_MS = 6000;
/** Maximum wait until another machine processes a line; longer than a takeover. */
const TAKEOVER_MS = 15_000;
/** Maximum delay between the condition and the kill. */
const MAX_DELAY_MS = 120;
/** Time limit of an operation that no kill interrupts. */
const TIMEOUT_MS = 120_000;

export interface KillPlan {
  readonly kills: number;
  readonly seed: number;
  /** Lines of each batch. */
  readonly lines: number;
  readonly nodes: 1 | 2;
  /** Interval of status requests. A shorter one notices more short states, and costs more processor time. Default: 40. */
  readonly pollMs?: number;
  /** Starts a process of the service and waits until its port is open. The caller stops it. */
  readonly launch: (node: number) => Promise<LaunchedService>;
  readonly upstream: LineUpstream;
}

export interface KillReport {
  readonly batches: readonly FinishedBatch[];
  /** Number of kills by the last batch status that the client received. */
  readonly killedIn: Readonly<Record<string, number>>;
}

/** Runs one batch after another while processes are killed at seeded random times, until the planned kills are done. */
export function batchesThroughKills(plan: KillPlan): Promise<KillReport> {
  return new KillRun(plan).run();
}

class KillRun {
  readonly #plan: KillPlan;
  readonly #pollMs: number;
  readonly #random: () => number;
  readonly #running = new Map<number, LaunchedService>();
  readonly #killedIn: Record<string, number> = {};
  #killed = 0;
  /** Number of the current batch, from 1. */
  #batch = 0;
  /** Status of the batch in the last response. */
  #status = 'none';
  #isOver = false;

  constructor(plan: KillPlan) {
    this.#plan = plan;
    this.#pollMs = plan.pollMs ?? 40;
    this.#random = seededRandom(plan.seed);
  }

  async run(): Promise<KillReport> {
    for (let node = 0; node < this.#plan.nodes; node += 1) await this.#start(node);
    const [batches] = await Promise.all([this.#runBatches(), this.#killProcesses()]);
    // The last batch may end on one node while another node restarts.
    for (const service of this.#running.values()) await this.#ready(service);
    return { batches, killedIn: this.#killedIn };
  }

  async #start(node: number): Promise<void> {
    this.#running.set(node, await this.#plan.launch(node));
  }

  async #runBatches(): Promise<FinishedBatch[]> {
    const batches: FinishedBatch[] = [];
    try {
      while (this.#killed < this.#plan.kills) batches.push(await this.#runBatch());
    } finally {
      this.#isOver = true;
    }
    return batches;
  }

  async #runBatch(): Promise<FinishedBatch> {
    const { seed, lines } = this.#plan;
    this.#batch += 1;
    const batch = this.#batch;
    this.#status = 'none';
    const { id } = await this.#retry((service) =>
      startBatch(service, { batch, lines, key: `${seed}-${batch}` }),
    );
    await this.#retry(async (service) => {
      const { status } = await retrieveBatch(service, id);
      this.#status = status;
      if (!BATCH_ENDS.has(status)) throw new Error(`the batch is ${status} and does not end`);
    });
    return await this.#retry((service) => finishedBatch(service, id));
  }

  /** Repeats a request to random processes until it succeeds. Each kill restarts the time limit. */
  async #retry<T>(request: (service: Fetching) => Promise<T>): Promise<T> {
    let deadline = performance.now() + TIMEOUT_MS;
    for (let killed = this.#killed; ; ) {
      try {
        const services = [...this.#running.values()];
        const service = services[Math.floor(this.#random() * services.length)];
        if (service === undefined) throw new Error('no process is running');
        return await request(service);
      } catch (error) {
        if (this.#killed > killed) deadline = performance.now() + TIMEOUT_MS;
        killed = this.#killed;
        if (performance.now() > deadline) throw error;
        await sleep(this.#pollMs);
      }
    }
  }

  async #ready(service: Fetching): Promise<void> {
    const deadline = performance.now() + TIMEOUT_MS;
    while ((await service.fetch('/readyz')).status !== 200) {
      if (performance.now() > deadline) throw new Error('a restarted process did not become ready');
      await sleep(this.#pollMs);
    }
  }

  async #killProcesses(): Promise<void> {
    const { kills, nodes, upstream } = this.#plan;
    while (this.#killed < kills && !this.#isOver) {
      // With several nodes, a kill tests nothing unless a process works. A single machine is also killed during its start.
      const { responses } = upstream;
      if (nodes > 1) await until(() => upstream.responses > responses, TAKEOVER_MS);
      await this.#waitForKillTime();
      const node = Math.floor(this.#random() * nodes);
      const victim = this.#running.get(node);
      if (victim === undefined) throw new Error('a process was not restarted');
      victim.signal('SIGKILL');
      this.#running.delete(node);
      this.#killed += 1;
      this.#killedIn[this.#status] = (this.#killedIn[this.#status] ?? 0) + 1;
      await victim.stop();
      await this.#start(node);
    }
  }

  /** Waits for the time of a kill: a random time, the validation of the next batch, or the end of a batch. */
  async #waitForKillTime(): Promise<void> {
    const { lines, upstream } = this.#plan;
    const kind = this.#random();
    if (kind < 0.6) return await sleep(this.#random() * MAX_LIFE_MS);
    const responses = lines - linesOf(lines, 'unknown model').length;
    const current = this.#batch;
    const condition =
      kind < 0.7
        ? () => this.#batch > current && this.#status === 'validating'
        : () => upstream.respondedLines(this.#batch) >= responses;
    await until(condition, MAX_WAIT_MS);
    await sleep(this.#random() * MAX_DELAY_MS);
  }
}

/** Waits until a condition holds, at most `maxMs`. */
async function until(condition: () => boolean, maxMs: number): Promise<void> {
  const deadline = performance.now() + maxMs;
  while (!condition() && performance.now() < deadline) await sleep(2);
}
