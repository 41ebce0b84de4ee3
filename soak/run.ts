/** A soak run: all loads, faults by schedule, and checks at the end. */

import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../src/kit/math/seeded-random.ts';
import { FAULTS } from './faults/all-faults.ts';
import type { FaultDeps } from './faults/fault.ts';
import { faultPlan } from './faults/fault-plan.ts';
import { FinalChecks } from './final-checks.ts';
import { LOADS } from './loads/all-loads.ts';
import type { Load } from './loads/load.ts';
import { type Material, makeMaterial } from './loads/material.ts';
import type { Check } from './report/check.ts';
import { Ledger } from './report/ledger.ts';
import { growthCheck, growths } from './report/memory.ts';
import type { Findings } from './report/report.ts';
import { Sampler } from './report/sampler.ts';
import { SoakClient } from './site/soak-client.ts';
import { openSites, type Site, type SoakSites } from './site/soak-site.ts';

export interface RunOptions {
  readonly minutes: number;
  /** Names of the faults to inject; absent means all. */
  readonly only: readonly string[] | undefined;
  /** Interrupts the run: everything is stopped without checks. */
  readonly signal: AbortSignal;
  /** Prints the progress. */
  readonly say: (line: string) => void;
}

/** Allowed names of `only`. */
export const FAULT_NAMES: readonly string[] = FAULTS.map(({ name }) => name);

export type RunFindings = Omit<Findings, 'machine' | 'commit'>;

/** @throws Error if a node does not start or fails before the first fault; the reason of the signal. */
export async function soak(options: RunOptions): Promise<RunFindings> {
  const opened = new AsyncDisposableStack();
  try {
    return await run(options, opened);
  } finally {
    await opened.disposeAsync();
  }
}

/** @param opened receives the resources that the caller closes. */
async function run(
  { minutes, only = FAULT_NAMES, signal, say }: RunOptions,
  opened: AsyncDisposableStack,
): Promise<RunFindings> {
  say('starting servers and nodes …');
  const sites = opened.adopt(await openSites(signal), (it) => it.close());
  const startedAt = new Date();
  let startedMs = performance.now();
  const nowMs = () => performance.now() - startedMs;
  const ledger = new Ledger(nowMs);
  const load = new AbortController();
  opened.defer(() => load.abort(new Error('the run has ended')));
  const running = AbortSignal.any([load.signal, signal]);
  const clientOf = (it: Pick<Load, 'name' | 'organization'>, site: Site, seed: number) =>
    new SoakClient({
      ledger,
      load: it.name,
      organization: it.organization,
      site: site.name,
      nodes: site.nodes,
      random: seededRandom(seed),
      signal: running,
      stopped: signal,
    });
  say('measuring the expected responses …');
  const material = await makeMaterial(clientOf({ name: 'first', organization: 'speech' }, sites.main, 0));
  const nodes = sitesOf(sites).flatMap((site) => site.nodes);
  startedMs = performance.now();
  const sampler = opened.adopt(new Sampler(nodes, nowMs), (it) => it.close());

  const loads = Promise.all(
    LOADS.flatMap((it, seed) => {
      const site = sites[it.site];
      return site ? [keepLoading(it, clientOf(it, site, seed + 1), material)] : [];
    }),
  );
  // An exception in the load itself ends the run.
  loads.catch((error) => load.abort(error));
  const parts = { sites, ledger, material, random: seededRandom(0), signal: running, opened };
  const idle = await injectAll(parts, { minutes, only, nowMs, say });
  await sleep(Math.max(0, minutes * 60_000 - nowMs()), undefined, { signal: running });
  load.abort(new Error('the load has ended'));
  const lengthMs = nowMs();
  say('the load has ended; waiting for open calls …');
  await loads;

  const checks: Check[] = [];
  for (const site of sitesOf(sites)) {
    say(`checking the site '${site.name}' …`);
    checks.push(...(await new FinalChecks(site, ledger).checks()));
  }
  sampler.close();
  const grown = growths(sampler.samples, lengthMs);
  const errors = new Map<string, number>();
  for (const [text, times] of nodes.flatMap((node) => [...node.errors])) {
    errors.set(text, (errors.get(text) ?? 0) + times);
  }
  const descriptionOf = (name: string) => FAULTS.find((fault) => fault.name === name)?.what ?? '';
  return {
    startedAt,
    lengthMs,
    idle,
    errors,
    missing: sites.missing,
    calls: ledger.calls,
    samples: sampler.samples,
    growths: grown,
    faults: ledger.faults.map((fault) => ({ ...fault, what: descriptionOf(fault.name) })),
    checks: [...checks, growthCheck(grown)],
  };
}

const sitesOf = ({ main, small }: SoakSites): Site[] => (small ? [main, small] : [main]);

/** Repeats one load until its signal fires. */
async function keepLoading(load: Load, client: SoakClient, material: Material): Promise<void> {
  const { signal, random } = client.parts;
  for (let at = 0; !signal.aborted; at += 1) {
    await load.round(client, material, at);
    // Random pauses of 50 to 150 %, so that loads overlap in different ways.
    const pauseMs = load.pauseMs * (0.5 + random());
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Injects faults by plan, one after the other. @returns faults that could not be injected, with the reason. */
async function injectAll(
  parts: FaultDeps,
  plan: Pick<RunOptions, 'minutes' | 'say'> & {
    readonly only: readonly string[];
    readonly nowMs: () => number;
  },
): Promise<string[]> {
  const { minutes, only, nowMs, say } = plan;
  const { signal } = parts;
  const idle: string[] = [];
  const possible = FAULTS.filter(({ name, isPossible }) => only.includes(name) && isPossible(parts.sites));
  const names = possible.map(({ name }) => name);
  for (const { name, atMs } of faultPlan(names, minutes)) {
    await sleep(Math.max(0, atMs - nowMs()), undefined, { signal });
    const minute = (nowMs() / 60_000).toFixed(1);
    say(`minute ${minute}: ${name}`);
    const reason = await possible.find((fault) => fault.name === name)?.inject(parts);
    if (reason === undefined) continue;
    idle.push(`${name} at minute ${minute}: ${reason}`);
    say(`  ${reason}`);
  }
  return idle;
}
