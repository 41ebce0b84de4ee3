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
/** Credits of a call. */
const PRICE = 0.5;
/** Every so many lines one names a model that is none, and one is refused by the upstream. */
const UNKNOWN_EVERY = 70;
const REFUSED_EVERY = 50;
/** How long the upstream takes for a line. */
const LINE_MS = 150;
/** How long what a batch leaves behind may take to go, after its end or after the start of a process. */
const TIDYING_MS = 30_000;

/** An embeddings upstream, slow enough for failures in between, that identifies a line by its tokens. */
export interface LineUpstream {
  /** CONFIG of a service that uses it. */
  readonly config: string;
  /** Lines of a batch, by its number, that were answered at least once. */
  answered(batch: number): number;
  /** Answers so far. */
  readonly answers: number;
  /** Those that were for a line which had one already. */
  readonly repeated: number;
  close(): Promise<void>;
}

export function startLineUpstream(): LineUpstream {
  const upstream = startFakeUpstream();
  const answered = new Map<number, Set<number>>();
  let answers = 0;
  let repeated = 0;
  upstream.answer(async ({ input }) => {
    const [batch = 0, line = 0] = String(input).split(' ').map(Number);
    await sleep(LINE_MS);
    answers += 1;
    const lines = answered.get(batch) ?? new Set();
    if (lines.has(line)) repeated += 1;
    answered.set(batch, lines.add(line));
    if (line % REFUSED_EVERY === 0) return new Response('{}', { status: 400 });
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
    answered: (batch) => answered.get(batch)?.size ?? 0,
    get answers() {
      return answers;
    },
    get repeated() {
      return repeated;
    },
    close: () => upstream.close(),
  };
}

type Fate = 'unknown model' | 'refused' | 'embedded';

/** Numbers of the lines of a batch that end so, from 1. */
export function linesOf(lines: number, fate: Fate): number[] {
  return numbers(lines).filter((line) => fateOf(line) === fate);
}

function fateOf(line: number): Fate {
  if (line % UNKNOWN_EVERY === 0) return 'unknown model';
  return line % REFUSED_EVERY === 0 ? 'refused' : 'embedded';
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
    body: { model: fateOf(number) === 'unknown model' ? 'gone' : MODEL, input: `${batch} ${number}` },
  });
  return numbers(lines)
    .map((number) => `${JSON.stringify(line(number))}\n`)
    .join('');
}

/** Uploads and creates batch `batch`; asked again with the same key, it is the same one. */
export async function startBatch(
  service: Fetching,
  { batch, lines, key }: { batch: number; lines: number; key?: string },
): Promise<BatchOnWire> {
  const input = await uploadInput(service, inputOf(batch, lines), key);
  return await createBatch(service, input, ENDPOINT, key);
}

/** What came of a batch that has ended. */
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

export interface Aftermath {
  /** A process that runs. */
  readonly service: Fetching;
  /** What all processes share, opened by the test. */
  readonly records: Records;
  readonly blobs: BlobStore;
  /** Of each batch. */
  readonly lines: number;
  /** Credits of organization `a`, which has done nothing but these batches. */
  readonly granted: number;
}

/** Everything that is not as it would be had nothing happened; a line each. */
export async function faultsAfter(batches: readonly FinishedBatch[], after: Aftermath): Promise<string[]> {
  const { service, lines, granted } = after;
  const completed = batches.length * linesOf(lines, 'embedded').length;
  // First, because with calls that are still open go the credits that they hold.
  const left = await leftovers(after);
  const rows = await usageRows(service);
  const credits = await (await service.fetch('/v1/credits')).json();
  return [
    ...batches.flatMap((batch) => faultsOf(batch, lines)),
    // What is refused has none, as over HTTP: nothing was done for it.
    ...difference('usage rows', rows.length, completed),
    ...difference('their states', [...new Set(rows.map(({ status }) => status))], ['completed']),
    ...difference('their names', new Set(rows.map(({ id }) => id)).size, rows.length),
    ...difference('credits', credits, {
      object: 'credits',
      balance: granted - PRICE * completed,
      reserved: 0,
    }),
    ...left,
  ];
}

function faultsOf({ batch, output, error }: FinishedBatch, lines: number): string[] {
  const embedded = linesOf(lines, 'embedded');
  const answers = output.map(({ custom_id, response }) => {
    const { usage } = (response?.body ?? {}) as { usage?: { prompt_tokens?: number } };
    return `${custom_id} ${response?.status_code} line-${usage?.prompt_tokens}`;
  });
  const failures = error.map(({ custom_id, error: fault }) => `${custom_id} ${fault?.code}`);
  const expected = [
    ...linesOf(lines, 'unknown model').map((line) => `line-${line} model_not_found`),
    ...linesOf(lines, 'refused').map((line) => `line-${line} invalid_request_error`),
  ];
  const counts = { total: lines, completed: embedded.length, failed: expected.length };
  const tokens = embedded.reduce((sum, line) => sum + line, 0);
  return [
    ...difference('status', batch.status, 'completed'),
    ...difference('counts', batch.request_counts, counts),
    ...difference('tokens', batch.usage?.total_tokens, tokens),
    ...difference(
      'output',
      answers.toSorted(),
      embedded.map((line) => `line-${line} 200 line-${line}`).toSorted(),
    ),
    ...difference('errors', failures.toSorted(), expected.toSorted()),
  ].map((fault) => `${batch.id}: ${fault}`);
}

/** What only work that goes on may have, and does not go away. */
async function leftovers({ records, blobs }: Aftermath): Promise<string[]> {
  const until = performance.now() + TIDYING_MS;
  for (;;) {
    const left: string[] = [];
    for (const table of ['open_calls', 'batch_parts', 'jobs'] as const) {
      const rows = await records.db.selectFrom(table).selectAll().execute();
      if (rows.length > 0) left.push(`${rows.length} rows of ${table} are left`);
    }
    for await (const { name } of blobs.list('batches/', new AbortController().signal)) {
      left.push(`the blob ${name} is left`);
    }
    if (left.length === 0 || performance.now() > until) return left;
    await sleep(200);
  }
}

function difference(what: string, found: unknown, expected: unknown): string[] {
  const [one = 'nothing', other = 'nothing'] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one === other) return [];
  let at = 0;
  while (one[at] === other[at]) at += 1;
  const around = (text: string) => text.slice(Math.max(0, at - 100), at + 100);
  return [`${what}: …${around(one)}… and not …${around(other)}…`];
}
