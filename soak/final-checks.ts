/** Checks the stores and nodes of a site after the load. */

import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BATCH_ENDS, type BatchOnWire, resultLines } from '../tools/harness/services/batch-service.ts';
import type { Check } from './report/check.ts';
import {
  batchViolations,
  callViolations,
  creditViolations,
  type ExpectedBatch,
  type Kept,
  type Ledger,
  type UsageRow,
  usageViolations,
} from './report/ledger.ts';
import { metricsOf } from './report/sampler.ts';
import { accountOf, sha256 } from './site/soak-client.ts';
import { costOf, keyOf, ORGANIZATIONS, type Organization } from './site/soak-config.ts';
import type { SoakNode } from './site/soak-node.ts';
import type { Site } from './site/soak-site.ts';

/** Time for the last batches and videos to end. Batch lines have the lowest priority. */
const JOBS_END_WITHIN_MS = 600_000;
/** Time until calls and half-open connections are closed. The service detects these after two minutes. */
const CLOSED_WITHIN_MS = 200_000;
/** Time for a start with loading of models, and the sweep after it. */
const SWEPT_WITHIN_MS = 240_000;
const POLL_MS = 500;
const BLOB_FOLDERS = ['files/', 'batches/', 'voices/', 'videos/'];
const NEXT_DAY_MAIN = resolve(import.meta.dirname, 'site/next-day-main.ts');

export class FinalChecks {
  readonly #site: Site;
  readonly #ledger: Ledger;

  constructor(site: Site, ledger: Ledger) {
    this.#site = site;
    this.#ledger = ledger;
  }

  /** Runs all checks. Stops the nodes. */
  async checks(): Promise<Check[]> {
    const ended = [await this.#jobsEnded(), await this.#nothingOpen()];
    const rows = await this.#usageRows();
    const checks = [
      ...ended,
      this.#calls(),
      await this.#stored(),
      await this.#batches(rows),
      this.#usage(rows),
      await this.#credits(rows),
      await this.#stops(),
      await this.#noLeftovers(),
    ];
    return checks.map((check) => ({ ...check, guarantee: `${this.#site.name}: ${check.guarantee}` }));
  }

  get #node(): SoakNode {
    return this.#site.nodes[0] as SoakNode;
  }

  async #fetch(path: string, organization: string): Promise<Response> {
    const headers = { authorization: `Bearer ${keyOf(organization as Organization)}` };
    return await this.#node.service.fetch(path, { headers });
  }

  /** All batches and videos end. */
  async #jobsEnded(): Promise<Check> {
    const { db } = this.#site.records;
    const open = async (): Promise<string[]> => {
      const batches = await db.selectFrom('batches').select(['id', 'status']).execute();
      const videos = await db.selectFrom('videos').select(['id', 'status']).execute();
      return [
        ...batches.filter(({ status }) => !BATCH_ENDS.has(status)),
        ...videos.filter(({ status }) => status === 'queued' || status === 'in_progress'),
      ].map(({ id, status }) => `${id} is still ${status}`);
    };
    const violations = await waitUntilEmpty(open, JOBS_END_WITHIN_MS);
    const { batches, videos } = this.#ledger;
    const checked = batches.filter(({ site }) => site === this.#site.name).length;
    return {
      guarantee: 'every batch and every video reaches a final status',
      checked: checked + (this.#site.name === 'main' ? videos.size : 0),
      violations,
    };
  }

  /** No call and no socket of a disconnected client is open. */
  async #nothingOpen(): Promise<Check> {
    const names = ['usage_open_calls', 'realtime_open_connections', 'partner_open_calls', 'vad_open_streams'];
    const open = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const node of this.#site.nodes) {
        const metrics = await metricsOf(node);
        for (const name of names) {
          const count = metrics(name) ?? 0;
          if (count !== 0) found.push(`${node.name}: ${name} is ${count}`);
        }
      }
      const rows = await this.#site.records.db.selectFrom('open_calls').select('id').execute();
      return [...found, ...rows.map(({ id }) => `the call ${id} is open in the journal`)];
    };
    const violations = await waitUntilEmpty(open, CLOSED_WITHIN_MS);
    const guarantee = 'no call, connection or work stays open after its client has disconnected';
    return { guarantee, checked: names.length * this.#site.nodes.length, violations };
  }

  #calls(): Check {
    const names = this.#site.nodes.map(({ name }) => name);
    const calls = this.#ledger.calls.filter(({ node }) => names.includes(node));
    return {
      guarantee:
        'every call ends in time, with the complete expected response, a typed error, or a detectable disconnection',
      checked: calls.length,
      violations: callViolations(calls, this.#ledger.faults),
    };
  }

  /** Acknowledged resources are unchanged, and deleted ones are missing. */
  async #stored(): Promise<Check> {
    const kept = this.#ledger.kept.filter(({ site }) => site === this.#site.name);
    const violations: string[] = [];
    for (const each of kept) {
      const violation = await this.#storedViolation(each);
      if (violation !== undefined) violations.push(`${each.kind} ${each.id}: ${violation}`);
    }
    const guarantee = 'acknowledged resources have their exact bytes; deleted ones are missing';
    return { guarantee, checked: kept.length, violations };
  }

  async #storedViolation({ path, organization, sha256: expected, state }: Kept): Promise<string | undefined> {
    const response = await this.#fetch(path, organization);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (state !== 'kept' && response.status === 404) return undefined;
    if (state === 'gone') return `was deleted, but the status is ${response.status}`;
    if (response.status !== 200) return `the status is ${response.status}`;
    return sha256(bytes) === expected ? undefined : 'the content has changed';
  }

  async #batches(rows: readonly UsageRow[]): Promise<Check> {
    const batches = this.#ledger.batches.filter(({ site }) => site === this.#site.name);
    const own = rows.filter(({ organization }) => organization === accountOf(this.#site.name, 'batches'));
    const violations: string[] = [];
    let lines = 0;
    for (const batch of batches) {
      lines += batch.lines.size;
      violations.push(...(await this.#batchViolations(batch, own)));
    }
    const completed = batches.reduce(
      (sum, batch) => sum + [...batch.lines.values()].filter((fate) => 'tokens' in fate).length,
      0,
    );
    if (own.length !== completed) {
      violations.push(`${own.length} usage rows of ${completed} lines with a result`);
    }
    return {
      guarantee: 'every line of every batch has exactly one correct result and one usage row',
      checked: lines,
      violations,
    };
  }

  async #batchViolations(batch: ExpectedBatch, rows: readonly UsageRow[]): Promise<string[]> {
    try {
      const response = await this.#fetch(`/v1/batches/${batch.id}`, batch.organization);
      if (!response.ok) return [`${batch.id}: the status is ${response.status}`];
      const reported = (await response.json()) as BatchOnWire;
      const service = { fetch: (path: string) => this.#fetch(path, batch.organization) };
      const result = {
        status: reported.status,
        counts: reported.request_counts,
        output: await resultLines(service, reported.output_file_id),
        error: await resultLines(service, reported.error_file_id),
      };
      return batchViolations(batch, result, rows);
    } catch (error) {
      return [`${batch.id}: ${error instanceof Error ? error.message : error}`];
    }
  }

  #usage(rows: readonly UsageRow[]): Check {
    const { calls, faults, videos } = this.#ledger;
    const { name, nodes } = this.#site;
    const names = nodes.map((node) => node.name);
    const jobs = ['batches', 'videos'].map((each) => accountOf(name, each));
    const own = calls.filter(({ node }) => names.includes(node));
    const violations = usageViolations(
      own,
      rows.filter(({ organization }) => !jobs.includes(organization)),
      faults,
    );
    if (name === 'main') {
      const videoRows = rows.filter(({ organization }) => organization === accountOf(name, 'videos'));
      if (videoRows.length !== videos.size) {
        violations.push(`${videoRows.length} usage rows for ${videos.size} videos`);
      }
    }
    const guarantee = 'every accepted call has one usage row; that of a successful call is completed';
    return { guarantee, checked: rows.length, violations };
  }

  async #usageRows(): Promise<(UsageRow & { readonly cost: number })[]> {
    const rows = await this.#site.records.db.selectFrom('usage').selectAll().execute();
    return rows.map((row) => ({
      id: row.id,
      requestId: row.request_id,
      status: row.status,
      organization: accountOf(this.#site.name, row.organization),
      cost: costOf({
        endpoint: row.endpoint,
        model: row.model,
        status: row.status,
        inputTokens: row.input_tokens,
        outputTokens: row.output_tokens,
        characters: row.characters ?? 0,
      }),
    }));
  }

  async #credits(rows: readonly (UsageRow & { readonly cost: number })[]): Promise<Check> {
    const { db } = this.#site.records;
    const accounts = await db.selectFrom('credit_accounts').selectAll().execute();
    const entries = await db
      .selectFrom('credit_entries')
      .innerJoin('credit_transfers', 'credit_transfers.sequence', 'credit_entries.transfer')
      .select(['credit_transfers.organization', 'credit_entries.account', 'credit_entries.amount'])
      .execute();
    const violations = accounts.flatMap(({ organization, ...account }) => {
      const sums = { available: 0, reserved: 0, revenue: 0, granted: 0 };
      for (const entry of entries) {
        if (entry.organization === organization) sums[entry.account] += Number(entry.amount);
      }
      const cost = rows
        .filter((row) => row.organization === accountOf(this.#site.name, organization))
        .reduce((sum, row) => sum + row.cost, 0);
      return creditViolations({ organization, ...account, entries: sums, cost });
    });
    return {
      guarantee: 'charges equal the cost of the usage rows, and no credits stay reserved',
      checked: ORGANIZATIONS.length,
      violations,
    };
  }

  /** SIGTERM stops every node. */
  async #stops(): Promise<Check> {
    const violations: string[] = [];
    for (const node of this.#site.nodes) {
      const exitCode = await node.stop();
      if (exitCode !== 0) violations.push(`${node.name} ended with code ${exitCode}`);
    }
    return { guarantee: 'SIGTERM ends a node with code 0', checked: this.#site.nodes.length, violations };
  }

  /** After a day, no leftovers exist. */
  async #noLeftovers(): Promise<Check> {
    const { nodes } = this.#site;
    const nextDay = await Promise.all(nodes.map((_, at) => this.#site.launchAt(at, NEXT_DAY_MAIN)));
    const folders = nextDay.flatMap(({ dataDir }) =>
      ['uploads', 'videos'].map((name) => join(dataDir, name)),
    );
    const leftovers = async () => [
      ...(await this.#blobsWithoutRecord()),
      ...(await this.#rowsOfWork()),
      ...(await Promise.all(folders.map(filesIn))).flat(),
    ];
    const violations = await waitUntilEmpty(leftovers, SWEPT_WITHIN_MS);
    await Promise.all(nextDay.map((service) => service.stop()));
    const checked = (await this.#blobNames()).length;
    const guarantee = 'after a day, blobs and records match, and folders and tables contain no leftover work';
    return { guarantee, checked, violations };
  }

  async #blobsWithoutRecord(): Promise<string[]> {
    const { db } = this.#site.records;
    const files = await db.selectFrom('files').select('id').execute();
    const voices = await db.selectFrom('voices').select('id').execute();
    const videos = await db.selectFrom('videos').select(['id', 'status']).execute();
    const names = new Set([
      ...files.map(({ id }) => `files/${id}`),
      ...voices.map(({ id }) => `voices/${id}`),
    ]);
    const videoIds = new Set<string>(videos.map(({ id }) => id));
    const found: string[] = [];
    for (const name of await this.#blobNames()) {
      const [kind, id = ''] = name.split('/');
      if (names.delete(name) || (kind === 'videos' && videoIds.has(id))) continue;
      found.push(`the blob ${name} has no record`);
    }
    return [...found, ...[...names].map((name) => `the blob ${name} is missing`)];
  }

  async #blobNames(): Promise<string[]> {
    const names: string[] = [];
    for (const folder of BLOB_FOLDERS) {
      for await (const { name } of this.#site.blobs.list(folder, new AbortController().signal))
        names.push(name);
    }
    return names;
  }

  async #rowsOfWork(): Promise<string[]> {
    const found: string[] = [];
    for (const table of ['open_calls', 'batch_parts', 'jobs'] as const) {
      const rows = await this.#site.records.db.selectFrom(table).selectAll().execute();
      if (rows.length > 0) found.push(`${rows.length} rows of ${table} remain`);
    }
    return found;
  }
}

/** Polls until `find` returns no items, or until the time is over. @returns the remaining items. */
async function waitUntilEmpty(find: () => Promise<string[]>, withinMs: number): Promise<string[]> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const found = await find();
    if (found.length === 0 || performance.now() > deadlineMs) return found;
    await Bun.sleep(POLL_MS);
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => `the file ${name} remains in a work folder`);
}
