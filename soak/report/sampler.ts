/** Samples memory, descriptors, processes and event loop pauses of the nodes. */

import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { WORKER_ENTRIES } from '../../tools/harness/services/worker-entries.ts';
import type { SoakNode } from '../site/soak-node.ts';

export interface Sample {
  /** One-minute load average of the computer. */
  readonly loadAverage: number;
  /** Ms since the start of the run. */
  readonly atMs: number;
  readonly node: string;
  readonly pid: number;
  /** Resident memory in kB: of the API process, and of its child processes by role. */
  readonly servingKb: number;
  readonly childrenKb: Readonly<Record<string, number>>;
  readonly processes: number;
  /** Open files and sockets of the API process. */
  readonly handles: number;
  /** Longest pause of its event loop since the last sample, in seconds; undefined without a response. */
  readonly pauseS: number | undefined;
  readonly openCalls: number | undefined;
  readonly openSockets: number | undefined;
}

const EVERY_MS = 5000;
const METRICS_WITHIN_MS = 4000;
/** Role of a child process by a part of its command line. The first match counts. */
const ROLES: Readonly<Record<string, string>> = {
  [WORKER_ENTRIES.inference]: 'models',
  [WORKER_ENTRIES.languageModel]: 'language models',
  [WORKER_ENTRIES.voiceActivity]: 'voice activity',
  [WORKER_ENTRIES.turnEnd]: 'end of turns',
  [WORKER_ENTRIES.video]: 'videos',
  [WORKER_ENTRIES.media]: 'files',
  [WORKER_ENTRIES.audioEncoding]: 'encoding of speech',
  [WORKER_ENTRIES.inputCheck]: 'input checks',
};

/** Samples the nodes until it is closed. */
export class Sampler {
  readonly samples: Sample[] = [];
  readonly #nodes: readonly SoakNode[];
  readonly #nowMs: () => number;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(nodes: readonly SoakNode[], nowMs: () => number) {
    this.#nodes = nodes;
    this.#nowMs = nowMs;
    this.#timer = setInterval(() => void this.#all(), EVERY_MS);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #all(): Promise<void> {
    const samples = await Promise.all(this.#nodes.filter(({ isUp }) => isUp).map((node) => this.#one(node)));
    this.samples.push(...samples.filter((sample) => sample !== undefined));
  }

  async #one(node: SoakNode): Promise<Sample | undefined> {
    const { pid } = node.service;
    const metrics = await metricsOf(node);
    const family = familyOf(pid);
    const serving = family.get(pid);
    // The process has exited.
    if (serving === undefined) return undefined;
    const childrenKb: Record<string, number> = {};
    for (const [each, { residentKb, role }] of family) {
      if (each !== pid) childrenKb[role] = (childrenKb[role] ?? 0) + residentKb;
    }
    const sockets = [metrics('realtime_open_connections'), metrics('partner_open_calls')];
    return {
      loadAverage: loadavg()[0] ?? 0,
      atMs: this.#nowMs(),
      node: node.name,
      pid,
      childrenKb,
      processes: family.size,
      servingKb: serving.residentKb,
      handles: handlesOf(pid),
      pauseS: metrics('event_loop_pause_seconds'),
      openCalls: metrics('usage_open_calls'),
      openSockets: sockets.some((count) => count !== undefined)
        ? sockets.reduce<number>((sum, count) => sum + (count ?? 0), 0)
        : undefined,
    };
  }
}

/** Reads the metrics of a node. The returned function sums a metric over its labels; undefined for an unknown metric. */
export async function metricsOf(node: SoakNode): Promise<(name: string) => number | undefined> {
  const response = await fetch(`${node.service.baseUrl}/metrics`, {
    signal: AbortSignal.timeout(METRICS_WITHIN_MS),
  }).catch(() => undefined);
  const text = (await response?.text().catch(() => '')) ?? '';
  return (name) => {
    const found = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))];
    return found.length === 0 ? undefined : found.reduce((sum, [, value]) => sum + Number(value), 0);
  };
}

interface Member {
  readonly residentKb: number;
  readonly role: string;
}

/** A process and its running descendants (Linux). */
export function familyOf(root: number): Map<number, Member> {
  const parents = new Map<number, number>();
  const members = new Map<number, Member>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      const part = Object.keys(ROLES).find((each) => command.includes(each));
      parents.set(Number(name), Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]));
      members.set(Number(name), {
        residentKb: Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0),
        role: part === undefined ? 'others' : (ROLES[part] ?? part),
      });
    } catch {
      // The process has exited.
    }
  }
  const family = new Map<number, Member>();
  const add = (pid: number) => {
    const member = members.get(pid);
    if (member === undefined || family.has(pid)) return;
    family.set(pid, member);
    for (const [child, parent] of parents) if (parent === pid) add(child);
  };
  add(root);
  return family;
}

function handlesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}
