import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import type { BatchRecord } from '../../../src/contract/stores/batch-store.ts';
import { fileBlob } from '../../../src/contract/stores/file-store.ts';
import { withMethods } from '../../../test/doubles/with-methods.ts';
import {
  type BatchWork,
  batchWork,
  type CallOperation,
  CHAT_PRICE,
  echo,
  inputLine,
  type ResultLine,
} from '../../../test/harness/batch-work.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { noMetrics } from '../../../tools/harness/doubles/doubles.ts';
import { batchMetrics } from '../results/metrics.ts';

/** A turn of the event loop, with timers. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

const never = new AbortController().signal;
const DONE = { kind: 'done' };
const AGAIN = { kind: 'again', delayMs: 0 };
/** A blob store whose blobs are not local files. */
const NO_FILES = { openFile: undefined };

function lines(count: number, body: (index: number) => object = () => ({})): string {
  return Array.from({ length: count }, (_, index) => inputLine(`line ${index}`, body(index))).join('');
}

const ids = (results: readonly ResultLine[]) => results.map((line) => line.custom_id);
const allIds = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);

/** An operation whose calls wait until a test releases or aborts them. */
function gated(inner: CallOperation = echo) {
  const gate = Promise.withResolvers<void>();
  const started: string[] = [];
  const aborted: unknown[] = [];
  const some = Promise.withResolvers<void>();
  const call: CallOperation = async (body, order, signal) => {
    started.push(order.caller.requestId);
    some.resolve();
    const left = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => left.reject(signal.reason), { once: true });
    try {
      await Promise.race([gate.promise, left.promise]);
    } catch (error) {
      aborted.push(error);
      throw error;
    }
    return await inner(body, order, signal);
  };
  return { call, started, aborted, open: gate.resolve, firstStarted: some.promise };
}

/** Fails the lines whose body contains an error, and echoes the others. */
const failing: CallOperation = async (body, order, signal) => {
  const { fail } = body as { fail?: ConstructorParameters<typeof ServiceError> };
  if (fail !== undefined) throw new ServiceError(...fail);
  return await echo(body, order, signal);
};

describe('a batch', () => {
  it('runs from its input to its result files', async () => {
    const work = await batchWork();
    const input = `\ufeff${inputLine('line 0')}\r\n\n${lines(3).split('\n').slice(1, 3).join('\n')}`;
    const batch = await work.create(input, { metadata: { a: 'b' }, outputExpiresAfterS: 3600 });
    expect(await work.job().runJob(batch.id, never)).toEqual(DONE);
    const finished = await work.get(batch);
    const at = work.clock.now() / 1000;
    expect(finished).toMatchObject({
      status: 'completed',
      counts: { total: 3, completed: 3, failed: 0 },
      tokens: { input: 6, output: 9 },
      model: 'm',
      times: { inProgress: at, finalizing: at, completed: at },
      errorFile: undefined,
    });
    const { output } = await work.results(batch);
    expect(ids(output).sort()).toEqual(allIds(3));
    expect(output.find((line) => line.custom_id === 'line 1')).toEqual({
      id: expect.stringMatching(/^batch_req_[0-9a-f]{32}$/),
      custom_id: 'line 1',
      response: {
        status_code: 200,
        request_id: expect.stringMatching(/^req_[0-9a-f]{32}$/),
        body: { echo: { model: 'm' } },
      },
      error: null,
    });
    const file = finished.outputFile && (await work.files.get('a', finished.outputFile, at));
    expect(file).toMatchObject({
      purpose: 'batch_output',
      filename: `${batch.id}_output.jsonl`,
      createdAt: at,
      expiresAt: at + 3600,
    });
  });

  it('deletes its parts', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(5));
    await work.job().runJob(batch.id, never);
    expect(await Array.fromAsync(work.blobs.list('batches/', never))).toEqual([]);
    expect(await work.batches.listParts(batch.id)).toEqual([]);
  });

  it('deletes the parts of a batch whose runner crashed after finishing it', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(5));
    const blobs = withMethods(work.blobs, { deleteAll: () => Promise.reject(new Error('killed')) });
    await expect(work.job(echo, { blobs }).runJob(batch.id, never)).rejects.toThrow('killed');
    expect(await work.get(batch)).toMatchObject({ status: 'completed' });
    expect(await Array.fromAsync(work.blobs.list('batches/', never))).not.toEqual([]);
    expect(await work.job().runJob(batch.id, never)).toEqual(DONE);
    expect(await Array.fromAsync(work.blobs.list('batches/', never))).toEqual([]);
  });

  it('has a usage row for each line, with its request id and charge', async () => {
    const work = await batchWork({ prices: [CHAT_PRICE] });
    await work.accounts.credits.grant('a', 1000, 0);
    const batch = await work.create(lines(20));
    await work.job().runJob(batch.id, never);
    const rows = await work.accounts.rows();
    const { output } = await work.results(batch);
    const requests = output.map((line) => line.response?.request_id);
    expect(rows.map((row) => row.requestId).sort()).toEqual(requests.sort());
    expect(await work.accounts.credits.balance('a')).toMatchObject({
      available: 900,
      reserved: 0,
      revenue: 100,
    });
  });

  it('needs no work if it does not exist or is finished', async () => {
    const work = await batchWork();
    expect(await work.job().runJob('batch_none', never)).toEqual(DONE);
    const batch = await work.create(lines(1));
    await work.job().runJob(batch.id, never);
    const finished = await work.get(batch);
    expect(await work.job().runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toEqual(finished);
  });

  it('fails with the errors of an invalid input', async () => {
    const work = await batchWork();
    const batch = await work.create(`${lines(1)}{}\n`);
    const untouched: CallOperation = () => {
      throw new Error('no line may run');
    };
    expect(await work.job(untouched).runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({
      status: 'failed',
      counts: { total: 0, completed: 0, failed: 0 },
      errors: [
        { code: 'missing_required_parameter', param: 'custom_id', line: 2 },
        { code: 'missing_required_parameter', param: 'body', line: 2 },
      ],
      outputFile: undefined,
      errorFile: undefined,
    });
  });
});

describe('a line that fails', () => {
  it('has its error in the error file and does not affect other lines', async () => {
    const work = await batchWork();
    const fails = [
      { fail: ['not_found', 'no such model', { code: 'model_not_found' }] },
      {},
      { fail: ['invalid_request', 'too hot'] },
      { fail: ['insufficient_quota', 'no credits', { code: 'insufficient_quota' }] },
    ];
    const batch = await work.create(lines(4, (index) => fails[index] ?? {}));
    await work.job(failing).runJob(batch.id, never);
    const { output, error } = await work.results(batch);
    expect(ids(output)).toEqual(['line 1']);
    expect(error.map((line) => [line.custom_id, line.response, line.error]).sort()).toEqual([
      ['line 0', null, { code: 'model_not_found', message: 'no such model' }],
      ['line 2', null, { code: 'invalid_request_error', message: 'too hot' }],
      ['line 3', null, { code: 'insufficient_quota', message: 'no credits' }],
    ]);
    expect(await work.get(batch)).toMatchObject({
      status: 'completed',
      counts: { total: 4, completed: 1, failed: 3 },
      tokens: { input: 2, output: 3 },
    });
  });

  it('with an internal error does not expose it and is logged once', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(3));
    await work
      .job(async () => {
        throw new TypeError('private text');
      })
      .runJob(batch.id, never);
    const { error } = await work.results(batch);
    expect(error.map((line) => line.error?.code)).toEqual(['server_error', 'server_error', 'server_error']);
    expect(JSON.stringify(error)).not.toContain('private');
    expect(work.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('with a transient error is retried and billed once', async () => {
    const work = await batchWork({ prices: [CHAT_PRICE] });
    await work.accounts.credits.grant('a', 1000, 0);
    const batch = await work.create(lines(10));
    const tries = new Map<string, number>();
    const unsure: CallOperation = async (body, order, signal) => {
      const response = await echo(body, order, signal);
      const key = JSON.stringify(body) + order.caller.requestId;
      tries.set(key, 1);
      if (tries.size % 3 !== 0) throw new ServiceError('upstream', 'not now');
      return response;
    };
    await work.job(unsure).runJob(batch.id, never);
    expect(tries.size).toBeGreaterThanOrEqual(28);
    expect(await work.get(batch)).toMatchObject({
      status: 'completed',
      counts: { completed: 10, failed: 0 },
    });
    expect(await work.accounts.rows()).toHaveLength(10);
    expect(await work.accounts.credits.balance('a')).toMatchObject({
      available: 950,
      reserved: 0,
      revenue: 50,
    });
  });

  it('fails permanently after the retry deadline, also across runs', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(1));
    const stop = new AbortController();
    let tries = 0;
    const job = work.job(async () => {
      tries += 1;
      if (tries === 3) {
        work.clock.advance(599_000);
        stop.abort(new Error('drain'));
      } else if (tries > 3) work.clock.advance(1000);
      throw new ServiceError('timeout', 'too slow');
    });
    expect(await job.runJob(batch.id, stop.signal)).toEqual(AGAIN);
    expect(await job.runJob(batch.id, never)).toEqual(DONE);
    expect(tries).toBe(4);
    const { error } = await work.results(batch);
    expect(error[0]?.error).toEqual({ code: 'server_error', message: 'too slow' });
  });
});

describe('credits', () => {
  it.each([
    // A line holds 10 and costs 5.
    { granted: 105, completed: 20 },
    { granted: 50, completed: 9 },
    { granted: 5, completed: 0 },
  ])(
    'of $granted are enough for $completed of 20 lines at any concurrency',
    async ({ granted, completed }) => {
      const work = await batchWork({ prices: [CHAT_PRICE] });
      await work.accounts.credits.grant('a', granted, 0);
      const batch = await work.create(lines(20));
      await work.job().runJob(batch.id, never);
      expect(await work.get(batch)).toMatchObject({
        status: 'completed',
        counts: { completed, failed: 20 - completed },
      });
      const { error } = await work.results(batch);
      const codes = error.map((line) => line.error?.code);
      expect(codes).toEqual(Array.from({ length: 20 - completed }, () => 'insufficient_quota'));
      const left = { available: granted - 5 * completed, reserved: 0, revenue: 5 * completed };
      expect(await work.accounts.credits.balance('a')).toMatchObject(left);
    },
  );

  it('that do not cover the cost of a line are used up, and the difference is logged', async () => {
    const work = await batchWork({ prices: [CHAT_PRICE] });
    await work.accounts.credits.grant('a', 4, 0);
    const batch = await work.create(lines(1));
    const dear: CallOperation = async (_, { caller, calls }) => {
      const maxUsage = { inputTokens: 1, outputTokens: 1 };
      const call = await calls.openCall({
        endpoint: 'POST /v1/chat/completions',
        model: 'm',
        caller,
        maxUsage,
      });
      await call.close({ status: 'completed', inputTokens: 2, outputTokens: 3 });
      return '{}';
    };
    expect(await work.job(dear).runJob(batch.id, never)).toEqual(DONE);
    expect(await work.accounts.credits.balance('a')).toMatchObject({ available: 0, reserved: 0, revenue: 4 });
    expect(work.log.lines.filter(({ level }) => level === 'warn')).toEqual([
      {
        level: 'warn',
        message: 'lines of a batch cost more than their reserved credits',
        fields: { batch: batch.id, organization: 'a', missing: '0.000001' },
      },
    ]);
  });
});

describe('a cancel', () => {
  it('keeps finished results and writes the other lines to the error file', async () => {
    const work = await batchWork({ prices: [CHAT_PRICE] });
    await work.accounts.credits.grant('a', 1000, 0);
    const batch = await work.create(lines(60));
    const gates = gated();
    let finished = 0;
    const job = work.job(async (body, order, signal) => {
      if (finished === 20) return await gates.call(body, order, signal);
      finished += 1;
      return await echo(body, order, signal);
    });
    const running = job.runJob(batch.id, never);
    await gates.firstStarted;
    await work.batches.cancel('a', batch.id, 7);
    expect(await running).toEqual(DONE);
    const results = await work.results(batch);
    expect(results.output).toHaveLength(20);
    expect(new Set([...ids(results.output), ...ids(results.error)])).toEqual(new Set(allIds(60)));
    expect(new Set(results.error.map((line) => line.error?.code))).toEqual(new Set(['batch_cancelled']));
    expect(await work.get(batch)).toMatchObject({
      status: 'cancelled',
      counts: { total: 60, completed: 20, failed: 40 },
      times: { cancelling: 7, cancelled: expect.any(Number), finalizing: undefined },
    });
    expect(gates.aborted).toHaveLength(gates.started.length);
    expect(await work.accounts.rows()).toHaveLength(20);
    expect(await work.accounts.credits.balance('a')).toMatchObject({
      available: 900,
      reserved: 0,
      revenue: 100,
    });
  });

  it('during validation ends the batch without files', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(1));
    const read = Promise.withResolvers<void>();
    const blobs = withMethods(work.blobs, {
      ...NO_FILES,
      read: async (_, signal) => stuck(signal, read.resolve),
    });
    const running = work.job(echo, { blobs }).runJob(batch.id, never);
    await read.promise;
    await work.batches.cancel('a', batch.id, 7);
    expect(await running).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({
      status: 'cancelled',
      counts: { total: 0, completed: 0, failed: 0 },
      outputFile: undefined,
      errorFile: undefined,
    });
  });

  it('before any runner has claimed the batch ends it as well', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(3));
    await work.batches.cancel('a', batch.id, 7);
    expect(await work.job().runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({ status: 'cancelled', counts: { total: 0 } });
  });
});

/** A byte stream that never yields. */
async function* stuck(signal: AbortSignal, onRead: () => void): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  onRead();
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

describe('expiry', () => {
  it('keeps finished results and writes the other lines to the error file', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(60));
    const gates = gated();
    let finished = 0;
    const job = work.job(async (body, order, signal) => {
      if (finished === 20) return await gates.call(body, order, signal);
      finished += 1;
      return await echo(body, order, signal);
    });
    const running = job.runJob(batch.id, never);
    await gates.firstStarted;
    work.clock.advance(86_400_000);
    expect(await running).toEqual(DONE);
    const results = await work.results(batch);
    expect(results.output).toHaveLength(20);
    expect(new Set([...ids(results.output), ...ids(results.error)])).toEqual(new Set(allIds(60)));
    expect(new Set(results.error.map((line) => line.error?.code))).toEqual(new Set(['batch_expired']));
    const expired = { expired: batch.times.created + 86_400, completed: undefined };
    expect(await work.get(batch)).toMatchObject({
      status: 'expired',
      counts: { completed: 20, failed: 40 },
      times: expired,
    });
  });

  it('takes effect when no line has started', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(3));
    const late: CallOperation = () => {
      throw new Error('no line may run');
    };
    const batches = withMethods(work.batches, {
      startProcessing: (...args) => {
        work.clock.advance(86_400_000);
        return work.batches.startProcessing(...args);
      },
    });
    expect(await work.job(late, { batches }).runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({ status: 'expired', counts: { total: 3, failed: 3 } });
    expect((await work.results(batch)).error).toHaveLength(3);
  });

  it('fails a batch that was not validated in time', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(3));
    work.clock.advance(86_400_000);
    expect(await work.job().runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({
      status: 'failed',
      counts: { total: 0 },
      errors: [{ code: 'batch_expired', line: null }],
    });
  });

  it('does not affect a batch that is finalizing', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(3));
    const blobs = withMethods(work.blobs, {
      write: (name, ...rest) =>
        name.startsWith('files/') ? Promise.reject(new Error('disk')) : work.blobs.write(name, ...rest),
    });
    await expect(work.job(echo, { blobs }).runJob(batch.id, never)).rejects.toThrow('disk');
    expect(await work.get(batch)).toMatchObject({ status: 'finalizing' });
    work.clock.advance(86_400_000);
    expect(await work.job().runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({ status: 'completed', counts: { completed: 3 } });
  });
});

describe('a drain', () => {
  it('lets lines finish for a short time and leaves the others to the next run', async () => {
    const work = await batchWork({ prices: [CHAT_PRICE] });
    await work.accounts.credits.grant('a', 1000, 0);
    const batch = await work.create(lines(40));
    const gates = gated();
    const stop = new AbortController();
    const running = work.job(gates.call).runJob(batch.id, stop.signal);
    await gates.firstStarted;
    stop.abort(new Error('drain'));
    gates.open();
    expect(await running).toEqual(AGAIN);
    const { started } = gates;
    expect(await work.get(batch)).toMatchObject({
      status: 'in_progress',
      counts: { total: 40, completed: started.length },
    });
    expect(started.length).toBeLessThan(40);
    expect(await work.job().runJob(batch.id, never)).toEqual(DONE);
    expect(ids((await work.results(batch)).output).sort()).toEqual(allIds(40).sort());
    expect(await work.accounts.rows()).toHaveLength(40);
  });

  it('aborts lines after a short time and bills nothing for them', async () => {
    const work = await batchWork({ prices: [CHAT_PRICE] });
    await work.accounts.credits.grant('a', 1000, 0);
    const batch = await work.create(lines(5));
    const gates = gated();
    const billed: CallOperation = async (body, order, signal) => {
      const maxUsage = { inputTokens: 5, outputTokens: 5 };
      const call = await order.calls.openCall({
        endpoint: 'POST /v1/chat/completions',
        model: 'm',
        caller: order.caller,
        maxUsage,
      });
      try {
        return await gates.call(body, order, signal);
      } finally {
        await call.close({ status: 'cancelled', inputTokens: 2, outputTokens: 0 });
      }
    };
    const stop = new AbortController();
    const running = work.job(billed, { times: { drainMs: 1 } }).runJob(batch.id, stop.signal);
    await gates.firstStarted;
    stop.abort(new Error('drain'));
    expect(await running).toEqual(AGAIN);
    expect(gates.aborted).toHaveLength(5);
    expect(await work.accounts.rows()).toEqual([]);
    expect(await work.accounts.credits.balance('a')).toMatchObject({ available: 1000, reserved: 0 });
  });

  it.each(['a file', 'bytes'])('aborts the validation of an input that is %s', async (kind) => {
    const work = await batchWork();
    const batch = await work.create(lines(1));
    const stop = new AbortController();
    const leave = () => stop.abort(new Error('drain'));
    const openFile = async (name: string) => {
      leave();
      return await work.blobs.openFile?.(name);
    };
    const blobs = withMethods(work.blobs, {
      openFile: kind === 'a file' ? openFile : undefined,
      read: async (_, signal) => stuck(signal, leave),
    });
    expect(await work.job(echo, { blobs }).runJob(batch.id, stop.signal)).toEqual(AGAIN);
    expect(await work.get(batch)).toMatchObject({ status: 'validating' });
  });
});

describe('a batch that other batches wait for', () => {
  it('yields after its time slice and resumes', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(30));
    let calls = 0;
    const call: CallOperation = async (...args) => {
      calls += 1;
      if (calls === 5) work.clock.advance(30_000);
      // Lets polls run.
      for (let turns = 0; turns < 10; turns += 1) await turn();
      return await echo(...args);
    };
    const job = work.job(call, { maxConcurrentBatches: 1, maxConcurrentLines: 1 });
    expect(await job.runJob(batch.id, never)).toEqual(AGAIN);
    const { completed } = (await work.get(batch)).counts;
    expect(completed).toBeGreaterThanOrEqual(5);
    expect(completed).toBeLessThan(30);
    expect(await job.runJob(batch.id, never)).toEqual(DONE);
    expect(calls).toBe(30);
    expect(ids((await work.results(batch)).output)).toEqual(allIds(30));
  });

  it('keeps its slot when no batch can be waiting', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(10));
    const call: CallOperation = async (...args) => {
      work.clock.advance(30_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return await echo(...args);
    };
    expect(
      await work.job(call, { maxConcurrentBatches: 2, maxConcurrentLines: 1 }).runJob(batch.id, never),
    ).toEqual(DONE);
  });
});

describe('a batch that another runner claims', () => {
  it('is left to that runner, and nothing is saved or billed twice', async () => {
    const work = await batchWork({ prices: [CHAT_PRICE] });
    await work.accounts.credits.grant('a', 1000, 0);
    const batch = await work.create(lines(30));
    const gates = gated();
    const first = work.job(gates.call).runJob(batch.id, never);
    await gates.firstStarted;
    expect(await work.job().runJob(batch.id, never)).toEqual(DONE);
    gates.open();
    expect(await first).toEqual(AGAIN);
    expect(ids((await work.results(batch)).output).sort()).toEqual(allIds(30).sort());
    expect(await work.accounts.rows()).toHaveLength(30);
    expect(await work.accounts.credits.balance('a')).toMatchObject({
      available: 850,
      reserved: 0,
      revenue: 150,
    });
    expect(await Array.fromAsync(work.blobs.list('batches/', never))).toEqual([]);
  });
});

describe('a store that fails', () => {
  it('fails no line: the run ends, and the next one resumes from the last checkpoint', async () => {
    const work = await batchWork({ prices: [CHAT_PRICE] });
    await work.accounts.credits.grant('a', 100_000, 0);
    const batch = await work.create(lines(1100));
    const full = new ServiceError('overloaded', 'no room');
    let parts = 0;
    const blobs = withMethods(work.blobs, {
      write: async (name, ...rest) => {
        if (name.startsWith('batches/')) parts += 1;
        if (parts > 1) throw full;
        return await work.blobs.write(name, ...rest);
      },
    });
    await expect(work.job(echo, { blobs }).runJob(batch.id, never)).rejects.toBe(full);
    const { counts, status } = await work.get(batch);
    expect(status).toBe('in_progress');
    expect(counts.completed).toBeGreaterThanOrEqual(500);
    expect(counts.completed).toBeLessThan(1100);
    const charged = 5 * counts.completed;
    expect(await work.accounts.credits.balance('a')).toMatchObject({ reserved: 0, revenue: charged });
    let calls = 0;
    const counting: CallOperation = async (...args) => {
      calls += 1;
      return await echo(...args);
    };
    expect(await work.job(counting).runJob(batch.id, never)).toEqual(DONE);
    expect(calls).toBe(1100 - counts.completed);
    expect(await work.get(batch)).toMatchObject({ status: 'completed', counts: { completed: 1100 } });
  });

  it.each([1, 2, 3].slice(0, repetitions(1, 3)))(
    'at checkpoint %d loses no line that runs on and ignores the abort',
    async (broken) => {
      const work = await batchWork();
      // A checkpoint takes 500 lines; 600 more run while it fails.
      const count = 500 * broken + 1000;
      const batch = await work.create(lines(count));
      const away = new ServiceError('overloaded', 'away');
      let checkpoints = 0;
      let calls = 0;
      const batches = withMethods(work.batches, {
        checkpoint: async (...args) => {
          checkpoints += 1;
          if (checkpoints !== broken) return await work.batches.checkpoint(...args);
          // Until the lines that finish now are enough for a checkpoint.
          const enough = calls + 600;
          while (calls < enough) await new Promise((resolve) => setTimeout(resolve, 5));
          throw away;
        },
      });
      const call: CallOperation = async () => {
        calls += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
        return '{}';
      };
      const job = work.job(call, { batches });
      await expect(job.runJob(batch.id, never)).rejects.toBe(away);
      expect(checkpoints).toBe(broken);
      expect(await job.runJob(batch.id, never)).toEqual(DONE);
      expect(ids((await work.results(batch)).output).sort()).toEqual(allIds(count).sort());
    },
  );

  it('while lines run ends the run', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(5));
    const gates = gated();
    const gone = new Error('database unavailable');
    const batches = withMethods(work.batches, {
      refresh: async (...args) => {
        if (gates.started.length === 5) throw gone;
        return await work.batches.refresh(...args);
      },
    });
    await expect(work.job(gates.call, { batches }).runJob(batch.id, never)).rejects.toBe(gone);
    expect(gates.aborted).toHaveLength(5);
    expect(await work.job().runJob(batch.id, never)).toEqual(DONE);
  });

  it('whose counts are inconsistent ends the run', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(2));
    const batches = withMethods(work.batches, { finalize: async () => false });
    await expect(work.job(echo, { batches }).runJob(batch.id, never)).rejects.toThrow('inconsistent');
  });
});

describe('lost data', () => {
  /** Error of a store that has lost the input. */
  const withoutInput = (work: BatchWork, batch: BatchRecord) => {
    const isInput = (name: string) => name === fileBlob(batch.inputFile);
    return withMethods(work.blobs, {
      read: async (...args) => (isInput(args[0]) ? undefined : await work.blobs.read(...args)),
      openFile: async (name) => (isInput(name) ? undefined : await work.blobs.openFile?.(name)),
    });
  };

  it.each(['files', 'bytes'])('before validation, in a store of %s, fails the batch', async (of) => {
    const work = await batchWork();
    const batch = await work.create(lines(3));
    const without = withoutInput(work, batch);
    const blobs = of === 'files' ? without : withMethods(without, NO_FILES);
    expect(await work.job(echo, { blobs }).runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({
      status: 'failed',
      errors: [{ code: 'input_file_lost' }],
    });
    expect(work.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it.each([
    { how: 'ends a batch', cancel: false, status: 'expired' },
    { how: 'ends a batch that is cancelled', cancel: true, status: 'cancelled' },
  ])('of an input while lines run $how with the results so far', async ({ cancel, status }) => {
    const work = await batchWork();
    const batch = await work.create(lines(40));
    const stop = new AbortController();
    let calls = 0;
    const call: CallOperation = async (...args) => {
      calls += 1;
      if (calls === 10) stop.abort(new Error('drain'));
      return await echo(...args);
    };
    expect(await work.job(call).runJob(batch.id, stop.signal)).toEqual(AGAIN);
    const { counts } = await work.get(batch);
    expect(counts.completed).toBeLessThan(40);
    if (cancel) await work.batches.cancel('a', batch.id, 7);
    expect(await work.job(echo, { blobs: withoutInput(work, batch) }).runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({ status, counts, errors: [{ code: 'input_file_lost' }] });
    expect((await work.results(batch)).output).toHaveLength(counts.completed);
    expect(work.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('of saved results leaves a gap in the file and adds an error to the batch', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(1200));
    const lost: string[] = [];
    const blobs = withMethods(work.blobs, {
      read: async (...args) => {
        if (args[0].startsWith('batches/') && lost.length === 0) lost.push(args[0]);
        return lost.includes(args[0]) ? undefined : await work.blobs.read(...args);
      },
    });
    expect(await work.job(async () => '{}', { blobs }).runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({
      status: 'completed',
      counts: { completed: 1200 },
      errors: [{ code: 'results_lost' }],
    });
    const { length } = (await work.results(batch)).output;
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(1200);
  });

  it('of all saved results leaves no file', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(2));
    const blobs = withMethods(work.blobs, {
      read: async (...args) => (args[0].startsWith('batches/') ? undefined : await work.blobs.read(...args)),
    });
    expect(await work.job(echo, { blobs }).runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({ status: 'completed', outputFile: undefined });
    expect(await Array.fromAsync(work.blobs.list('files/', never))).toHaveLength(1);
  });
});

describe('result files that cannot be stored', () => {
  it('leave no blobs behind after any number of attempts', async () => {
    const work = await batchWork();
    const batch = await work.create(
      lines(2, (index) => (index === 0 ? {} : { fail: ['not_found', 'none'] })),
    );
    let writes = 0;
    const blobs = withMethods(work.blobs, {
      write: async (name, ...rest) => {
        if (name.startsWith('files/')) writes += 1;
        if (name.startsWith('files/') && writes % 2 === 0) throw new Error('full');
        return await work.blobs.write(name, ...rest);
      },
    });
    for (let run = 0; run < 3; run += 1) {
      await expect(work.job(failing, { blobs }).runJob(batch.id, never)).rejects.toThrow('full');
    }
    expect(await Array.fromAsync(work.blobs.list('files/', never))).toHaveLength(1);
    expect(await work.job(failing).runJob(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({ status: 'completed', counts: { completed: 1, failed: 1 } });
  });
});

describe('abandoning a job', () => {
  it('aborts a hanging checkpoint', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(2));
    const stop = new AbortController();
    const saving = Promise.withResolvers<void>();
    const blobs = withMethods(work.blobs, {
      write: async (_, __, signal) => {
        saving.resolve();
        await new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        throw new Error('never');
      },
    });
    const job = work.job(echo, { blobs });
    const running = job.runJob(batch.id, stop.signal);
    await saving.promise;
    stop.abort(new Error('drain'));
    job.abandon();
    expect(await running).toEqual(AGAIN);
    expect(await work.job().runJob(batch.id, never)).toEqual(DONE);
    expect(ids((await work.results(batch)).output).sort()).toEqual(allIds(2));
  });
});

describe('a claimed batch', () => {
  it('is logged with its position, and its wait is observed once', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(40));
    const waits: number[] = [];
    const metrics = {
      ...batchMetrics(noMetrics),
      wait: { observe: (_: object, s: number) => waits.push(s) },
    };
    const stop = new AbortController();
    work.clock.advance(5000);
    const call: CallOperation = async (...args) => {
      stop.abort(new Error('drain'));
      return await echo(...args);
    };
    await work.job(call, { metrics }).runJob(batch.id, stop.signal);
    await work.job(echo, { metrics }).runJob(batch.id, never);
    expect(waits).toEqual([5]);
    const claims = work.log.lines.filter(({ message }) => message === 'batch claimed');
    expect(claims.map(({ fields }) => fields)).toEqual([
      { batch: batch.id, organization: 'a', status: 'validating', line: 1 },
      { batch: batch.id, organization: 'a', status: 'in_progress', line: expect.any(Number) },
    ]);
  });
});

describe('limits', () => {
  it('cap the concurrent lines of all batches', async () => {
    const work = await batchWork();
    const [first, second] = [
      await work.create(lines(80)),
      await work.create(lines(80), { organization: 'b' }),
    ];
    let [open, max] = [0, 0];
    const isFull = Promise.withResolvers<void>();
    const call: CallOperation = async (...args) => {
      open += 1;
      max = Math.max(max, open);
      if (open === 16) isFull.resolve();
      await new Promise((resolve) => setTimeout(resolve, 1));
      open -= 1;
      return await echo(...args);
    };
    const job = work.job(call, { maxConcurrentLines: 16 });
    const running = job.runJob(first.id, never);
    await isFull.promise;
    // A batch that joins when all lines are in use gets one line immediately, and its share as lines finish.
    await Promise.all([running, job.runJob(second.id, never)]);
    expect(max).toBeLessThanOrEqual(17);
  });

  it('reduce the concurrent lines when the engine is full', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(200));
    let [open, rejections] = [0, 0];
    const call: CallOperation = async (...args) => {
      if (open >= 3) {
        rejections += 1;
        throw new ServiceError('overloaded', 'full');
      }
      open += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
      open -= 1;
      return await echo(...args);
    };
    await work.job(call).runJob(batch.id, never);
    expect(await work.get(batch)).toMatchObject({ counts: { completed: 200 } });
    // With a constant number of lines, most attempts would be rejected.
    expect(rejections).toBeLessThan(200);
  });

  it.each([
    { kind: 'results', response: async () => '{}', max: 3000 },
    { kind: 'rows of usage', response: echo, max: 500 },
  ])('cap the number of $kind that wait for a store', async ({ response, max }) => {
    const work = await batchWork();
    const batch = await work.create(lines(10_000));
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    const batches = withMethods(work.batches, {
      checkpoint: async (...args) => {
        await gate.promise;
        return await work.batches.checkpoint(...args);
      },
    });
    const call: CallOperation = async (...args) => {
      calls += 1;
      return await response(...args);
    };
    const running = work.job(call, { batches }).runJob(batch.id, never);
    // Until many turns of the event loop start no further line.
    for (let idleTurns = 0; idleTurns < 50; idleTurns += 1) {
      const before = calls;
      await turn();
      if (calls === 0 || calls !== before) idleTurns = 0;
    }
    // Waiting results, results being saved, and lines that ran when the limit was reached.
    expect(calls).toBeGreaterThan(max);
    expect(calls).toBeLessThanOrEqual(2 * max + 2 * 16);
    gate.resolve();
    expect(await running).toEqual(DONE);
    expect(calls).toBe(10_000);
    expect(await work.get(batch)).toMatchObject({ status: 'completed', counts: { completed: 10_000 } });
  });

  it('cap the bytes of concurrent lines', async () => {
    const work = await batchWork();
    const mebibyte = 'x'.repeat(2 ** 20);
    const batch = await work.create(lines(40, () => ({ input: mebibyte })));
    let [open, max] = [0, 0];
    const call: CallOperation = async () => {
      open += 1;
      max = Math.max(max, open);
      // All lines that may run start within these turns.
      for (let turns = 0; turns < 10; turns += 1) await turn();
      open -= 1;
      return '{}';
    };
    await work.job(call, { maxConcurrentLines: 64, maxLineBytes: 2 ** 21 }).runJob(batch.id, never);
    expect(max).toBe(15);
    expect(await work.get(batch)).toMatchObject({ counts: { completed: 40 } });
  });
});
