/**
 * Inference time that each API key has used, for a schedule that divides the time equally between the keys that wait:
 * start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996) with one flow per key. Each priority class has its own
 * account, because a class runs only while no higher class waits.
 */

import type { Priority } from '../../contract/engines/engine.ts';

/** The jobs of one key in one priority class. */
export interface Flow {
  readonly priority: Priority;
  /** Fairness key: the id of the API key that the job runs for. */
  readonly fairnessKey: string;
}

/** Every step counts at least this much, in ms, so that keys with immeasurably short steps alternate. */
const MIN_STEP_MS = 1;

interface Account {
  /** Start tag of the last step that started, in ms: keys without an entry have used this much. */
  virtualMs: number;
  /** Finish tags of the keys that have used more, in ms. */
  readonly used: Map<string, number>;
}

export class ServedTime {
  readonly #accounts: Readonly<Record<Priority, Account>> = {
    realtime: { virtualMs: 0, used: new Map() },
    interactive: { virtualMs: 0, used: new Map() },
    batch: { virtualMs: 0, used: new Map() },
  };

  /**
   * Time that a key has used in a priority class, in ms. Only differences between keys have a meaning. A key that did
   * not wait counts as one that was served equally until now: idle time earns no credit.
   */
  usedMs({ priority, fairnessKey }: Flow): number {
    const { virtualMs, used } = this.#accounts[priority];
    return Math.max(virtualMs, used.get(fairnessKey) ?? 0);
  }

  /** Records that a step of a key starts. */
  start(flow: Flow): void {
    const account = this.#accounts[flow.priority];
    // Not less than before: steps of several processes overlap.
    account.virtualMs = this.usedMs(flow);
    for (const [key, usedMs] of account.used) if (usedMs <= account.virtualMs) account.used.delete(key);
  }

  /** Charges a step that took `stepMs` to its key. */
  finish(flow: Flow, stepMs: number): void {
    const usedMs = this.usedMs(flow) + Math.max(MIN_STEP_MS, stepMs);
    this.#accounts[flow.priority].used.set(flow.fairnessKey, usedMs);
  }

  /** Forgets the use in a class in which no job waits or runs. */
  clear(priority: Priority): void {
    const account = this.#accounts[priority];
    account.virtualMs = 0;
    account.used.clear();
  }
}
