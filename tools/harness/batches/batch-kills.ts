/** Batches on processes that are killed again and again. */

import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../../src/kit/math/seeded-random.ts';
import { BATCH_ENDS, type Fetching, retrieveBatch } from '../services/batch-service.ts';
import type { LaunchedService } from '../services/launcher.ts';
import { type FinishedBatch, finishedBatch, type LineUpstream, linesOf, startBatch } from './batch-lines.ts';

/** The longest that a process lives which is killed at any time. */
const MAX_LIFE_MS = 2000;
/** Maximum lifetime of a process that waits for a certain moment, if that moment never comes. */
const MAX_WAIT_MS = 6000;
/** The longest that one waits for a line to be worked on by another machine: somewhat longer than that takes. */
const TAKEOVER_MS = 15_000;
/** How long after such a moment one may live. */
const AFTERLIFE_MS = 120;
const POLL_MS = 40;
/** How long anything may take that no kill hinders. */
const PATIENCE_MS = 120_000;

export interface KillPlan {
  readonly kills: number;
  readonly seed: number;
  /** Lines of each batch. */
  readonly lines: number;
  readonly nodes: 1 | 2;
  /** Starts a process of the service, with no more than its port open. Its owner ends it. */
  readonly launch: (node: number) => Promise<LaunchedService>;
  readonly upstream: LineUpstream;
}

export interface KillReport {
  readonly batches: readonly FinishedBatch[];
  /** How many were killed while a client had seen the batch in a state last. */
  readonly killedIn: Readonly<Record<string, number>>;
}

/**
 * Lets one batch after another be worked on while processes are killed at moments that the seed decides, until there
 * were so many kills and the batch of that time has ended.
 */
export function batchesThroughKills(plan: KillPlan): Promise<KillReport> {
  return new Killing(plan).run();
}

class Killing {
  readonly #plan: KillPlan;
  readonly #random: () => number;
  readonly #running = new Map<number, LaunchedService>();
  readonly #killedIn: Record<string, number> = {};
  #killed = 0;
  /** Number of the batch that is worked on, from 1. */
  #batch = 0;
  /** As its client has seen it last. */
  #status = 'none';
  #isOver = false;

  constructor(plan: KillPlan) {
    this.#plan = plan;
    this.#random = seededRandom(plan.seed);
  }

  async run(): Promise<KillReport> {
    for (let node = 0; node < this.#plan.nodes; node += 1) await this.#start(node);
    const [batches] = await Promise.all([this.#work(), this.#kill()]);
    // The last batch may have ended on another node while one that was killed is still starting.
    for (const service of this.#running.values()) await this.#ready(service);
    return { batches, killedIn: this.#killedIn };
  }

  async #start(node: number): Promise<void> {
    this.#running.set(node, await this.#plan.launch(node));
  }

  async #work(): Promise<FinishedBatch[]> {
    const batches: FinishedBatch[] = [];
    try {
      while (this.#killed < this.#plan.kills) batches.push(await this.#workOnOne());
    } finally {
      this.#isOver = true;
    }
    return batches;
  }

  async #workOnOne(): Promise<FinishedBatch> {
    const { seed, lines } = this.#plan;
    this.#batch += 1;
    const batch = this.#batch;
    this.#status = 'none';
    const { id } = await this.#patiently((service) =>
      startBatch(service, { batch, lines, key: `${seed}-${batch}` }),
    );
    await this.#patiently(async (service) => {
      const { status } = await retrieveBatch(service, id);
      this.#status = status;
      if (!BATCH_ENDS.has(status)) throw new Error(`the batch is ${status} and does not end`);
    });
    return await this.#patiently((service) => finishedBatch(service, id));
  }

  /** Asks any process that runs, again and again; kills take their time off its patience. */
  async #patiently<T>(ask: (service: Fetching) => Promise<T>): Promise<T> {
    let latest = performance.now() + PATIENCE_MS;
    for (let killed = this.#killed; ; ) {
      try {
        const services = [...this.#running.values()];
        const service = services[Math.floor(this.#random() * services.length)];
        if (service === undefined) throw new Error('no process is running');
        return await ask(service);
      } catch (error) {
        if (this.#killed > killed) latest = performance.now() + PATIENCE_MS;
        killed = this.#killed;
        if (performance.now() > latest) throw error;
        await sleep(POLL_MS);
      }
    }
  }

  async #ready(service: Fetching): Promise<void> {
    const latest = performance.now() + PATIENCE_MS;
    while ((await service.fetch('/readyz')).status !== 200) {
      if (performance.now() > latest) throw new Error('a process that was started again does not get ready');
      await sleep(POLL_MS);
    }
  }

  async #kill(): Promise<void> {
    const { kills, nodes, upstream } = this.#plan;
    while (this.#killed < kills && !this.#isOver) {
      // A kill proves nothing while no process works; a single machine is also killed during its start.
      const { answers } = upstream;
      if (nodes > 1) await until(() => upstream.answers > answers, TAKEOVER_MS);
      await this.#moment();
      const node = Math.floor(this.#random() * nodes);
      const victim = this.#running.get(node);
      if (victim === undefined) throw new Error('a process was not started again');
      victim.signal('SIGKILL');
      this.#running.delete(node);
      this.#killed += 1;
      this.#killedIn[this.#status] = (this.#killedIn[this.#status] ?? 0) + 1;
      await victim.stop();
      await this.#start(node);
    }
  }

  /** Waits for the moment of a kill: any time, or when a new batch is being checked, or when one is about to end. */
  async #moment(): Promise<void> {
    const { lines, upstream } = this.#plan;
    const kind = this.#random();
    if (kind < 0.6) return await sleep(this.#random() * MAX_LIFE_MS);
    const answers = lines - linesOf(lines, 'unknown model').length;
    const began = this.#batch;
    const hasCome =
      kind < 0.7
        ? () => this.#batch > began && this.#status === 'validating'
        : () => upstream.answered(this.#batch) >= answers;
    await until(hasCome, MAX_WAIT_MS);
    await sleep(this.#random() * AFTERLIFE_MS);
  }
}

/** Waits for something, at most so long. */
async function until(hasCome: () => boolean, maxMs: number): Promise<void> {
  const latest = performance.now() + maxMs;
  while (!hasCome() && performance.now() < latest) await sleep(2);
}
