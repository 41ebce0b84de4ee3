/** Batches whose lines have known results, and the invariants that hold after any failures. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import type { Records } from '../../../src/records/schema/records.ts';
import {
  type BatchOnWire,
  createBatch,
  type Fetching,
  type ResultLine,
  resultLines,
  retrieveBatch,
  uploadInput,
  usageRows,
} from '../services/batch-service.ts';
import { NO_RECOGNISER, NO_SPEAKER } from '../services/launcher.ts';
import { startFakeUpstream } from '../upstreams/fake-upstream.ts';

const MODEL = 'all-minilm-l6-v2';
const ENDPOINT = '/v1/embeddings';
/** Price of a call in credits. */
const PRICE = 0.5;
/** Intervals of lines with an unknown model, and of lines that the upstream rejects. */
const UNKNOWN_EVERY = 70;
const REJECTED_EVERY = 50;
/** Time limit of the cleanup after the end of a batch or the start of a process. */
const CLEANUP_MS = 30_000;

/** An embeddings upstream, slow enough for failures in between, that identifies a line by its tokens. */
export interface LineUpstream {
  /** CONFIG of a service with this upstream. */
  readonly config: string;
  /** Number of lines of a batch with at least one response. */
  respondedLines(batch: number): number;
  /** Number of responses. */
  readonly responses: number;
  /** Number of responses for lines that already had one. */
  readonly repeated: number;
  close(): Promise<void>;
}

/** @param lineMs response time. A longer one gives the same duration of a batch with fewer lines. */
export function startLineUpstream(lineMs = 150): LineUpstream {
  const upstream = startFakeUpstream();
  const respondedLines = new Map<number, Set<number>>();
  let responses = 0;
  let repeated = 0;
  upstream.answer(async ({ input }) => {
    const [batch = 0, line = 0] = String(input).split(' ').map(Number);
    await sleep(lineMs);
    responses += 1;
    const lines = respondedLines.get(batch) ?? new Set();
    if (lines.has(line)) repeated += 1;
    respondedLines.set(batch, lines.add(line));
    if (line % REJECTED_EVERY === 0) return new Response('{}', { status: 400 });
    return Response.json({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [3, 4] }],
      usage: { prompt_tokens: line },
    });
  });
  return {
    config: `${NO_SPEAKER}${NO_RECOGNISER}
      [models."smollm2-135m-instruct"]
      kind = "upstream"
      base_url = "http://127.0.0.1:9/v1"
      model = "none"
      [models."${MODEL}"]
      kind = "upstream"
      base_url = "${upstream.baseUrl}"
      model = "any"
      [[prices]]
      endpoint = "POST ${ENDPOINT}"
      model = "${MODEL}"
      request = ${PRICE}`,
    respondedLines: (batch) => respondedLines.get(batch)?.size ?? 0,
    get responses() {
      return responses;
    },
    get repeated() {
      return repeated;
    },
    close: () => upstream.close(),
  };
}

type Outcome = 'unknown model' | 'rejected' | 'embedded';

/** Numbers of the lines with an outcome, from 1. */
export function linesOf(lines: number, outcome: Outcome): number[] {
  return numbers(lines).filter((line) => outcomeOf(line) === outcome);
}

function outcomeOf(line: number): Outcome {
  if (line % UNKNOWN_EVERY === 0) return 'unknown model';
  return line % REJECTED_EVERY === 0 ? 'rejected' : 'embedded';
}

function numbers(lines: number): number[] {
  return Array.from({ length: lines }, (_, at) => at + 1);
}

/** The input file of batch `batch`. */
export function inputOf(batch: number, lines: number): string {
  const line = (number: number) => ({
    custom_id: `line-${number}`,
    method: 'POST',
    url: ENDPOINT,
    body: { model: outcomeOf(number) === 'unknown model' ? 'gone' : MODEL, input: `${batch} ${number}` },
  });
  return numbers(lines)
    .map((number) => `${JSON.stringify(line(number))}\n`)
    .join('');
}

/** Uploads and creates batch `batch`. With an idempotency key, repeated calls return the same batch. */
export async function startBatch(
  service: Fetching,
  { batch, lines, key }: { batch: number; lines: number; key?: string },
): Promise<BatchOnWire> {
  const input = await uploadInput(service, inputOf(batch, lines), key);
  return await createBatch(service, input, ENDPOINT, key);
}

/** A finished batch with its results. */
export interface FinishedBatch {
  readonly batch: BatchOnWire;
  readonly output: readonly ResultLine[];
  readonly error: readonly ResultLine[];
}

export async function finishedBatch(service: Fetching, id: string): Promise<FinishedBatch> {
  const batch = await retrieveBatch(service, id);
  return {
    batch,
    output: await resultLines(service, batch.output_file_id),
    error: await resultLines(service, batch.error_file_id),
  };
}

export interface FinalState {
  /** A running process. */
  readonly service: Fetching;
  /** The shared stores, opened by the test. */
  readonly records: Records;
  readonly blobs: BlobStore;
  /** Number of lines of each batch. */
  readonly lines: number;
  /** Initial credits of organization `a`, which has run only these batches. */
  readonly granted: number;
}

/** Returns the differences from the state after a run without failures, one line each. */
export async function violationsAfter(
  batches: readonly FinishedBatch[],
  after: FinalState,
): Promise<string[]> {
  const { service, lines, granted } = after;
  const completed = batches.length * linesOf(lines, 'embedded').length;
  // First, because open calls reserve credits.
  const remaining = await leftovers(after);
  const rows = await usageRows(service);
  const credits = await (await service.fetch('/v1/credits')).json();
  return [
    ...batches.flatMap((batch) => differencesOf(batch, lines)),
    // Rejected lines have no usage row, like rejected HTTP requests.
    ...difference('usage rows', rows.length, completed),
    ...difference('usage row states', [...new Set(rows.map(({ status }) => status))], ['completed']),
    ...difference('distinct usage row ids', new Set(rows.map(({ id }) => id)).size, rows.length),
    ...difference('credits', credits, {
      object: 'credits',
      balance: granted - PRICE * completed,
      reserved: 0,
    }),
    ...remaining,
  ];
}

function differencesOf({ batch, output, error }: FinishedBatch, lines: number): string[] {
  const embedded = linesOf(lines, 'embedded');
  const responses = output.map(({ custom_id, response }) => {
    const { usage } = (response?.body ?? {}) as { usage?: { prompt_tokens?: number } };
    return `${custom_id} ${response?.status_code} line-${usage?.prompt_tokens}`;
  });
  const failures = error.map(({ custom_id, error: reason }) => `${custom_id} ${reason?.code}`);
  const expected = [
    ...linesOf(lines, 'unknown model').map((line) => `line-${line} model_not_found`),
    ...linesOf(lines, 'rejected').map((line) => `line-${line} invalid_request_error`),
  ];
  const counts = { total: lines, completed: embedded.length, failed: expected.length };
  const tokens = embedded.reduce((sum, line) => sum + line, 0);
  return [
    ...difference('status', batch.status, 'completed'),
    ...difference('counts', batch.request_counts, counts),
    ...difference('tokens', batch.usage?.total_tokens, tokens),
    ...difference(
      'output',
      responses.toSorted(),
      embedded.map((line) => `line-${line} 200 line-${line}`).toSorted(),
    ),
    ...difference('errors', failures.toSorted(), expected.toSorted()),
  ].map((text) => `${batch.id}: ${text}`);
}

/** Rows and blobs of unfinished work that remain after the time limit. */
async function leftovers({ records, blobs }: FinalState): Promise<string[]> {
  const deadline = performance.now() + CLEANUP_MS;
  for (;;) {
    const remaining: string[] = [];
    for (const table of ['open_calls', 'batch_parts', 'jobs'] as const) {
      const rows = await records.db.selectFrom(table).selectAll().execute();
      if (rows.length > 0) remaining.push(`${rows.length} rows of ${table} remain`);
    }
    for await (const { name } of blobs.list('batches/', new AbortController().signal)) {
      remaining.push(`the blob ${name} remains`);
    }
    if (remaining.length === 0 || performance.now() > deadline) return remaining;
    await sleep(200);
  }
}

function difference(what: string, found: unknown, expected: unknown): string[] {
  const [one = 'nothing', other = 'nothing'] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one === other) return [];
  let at = 0;
  while (one[at] === other[at]) at += 1;
  const around = (text: string) => text.slice(Math.max(0, at - 100), at + 100);
  return [`${what}: …${around(one)}… instead of …${around(other)}…`];
}
