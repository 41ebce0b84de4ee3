import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/contract/error.ts';
import {
  batchWork,
  type CallOperation,
  CHAT_PRICE,
  echo,
  inputLine,
  type ResultLine,
} from '../../test/support/batch-work.ts';

const never = new AbortController().signal;
const DONE = { kind: 'done' };
const AGAIN = { kind: 'again', delayMs: 0 };

function lines(count: number, body: (place: number) => object = () => ({})): string {
  return Array.from({ length: count }, (_, place) => inputLine(`line ${place}`, body(place))).join('');
}

const ids = (results: readonly ResultLine[]) => results.map((line) => line.custom_id);
const allIds = (count: number) => Array.from({ length: count }, (_, place) => `line ${place}`);

/** Fails the lines whose body says how, and echoes the others. */
const failing: CallOperation = async (body, order, signal) => {
  const { fail } = body as { fail?: ConstructorParameters<typeof ServiceError> };
  if (fail !== undefined) throw new ServiceError(...fail);
  return await echo(body, order, signal);
};

describe('a batch', () => {
  it('goes from its input to its result files', async () => {
    const work = await batchWork();
    const input = `\ufeff${inputLine('line 0')}\r\n\n${lines(3).split('\n').slice(1, 3).join('\n')}`;
    const batch = await work.create(input, { metadata: { a: 'b' }, outputExpiresAfterS: 3600 });
    expect(await work.job().run(batch.id, never)).toEqual(DONE);
    const ended = await work.get(batch);
    const at = work.clock.now() / 1000;
    expect(ended).toMatchObject({
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
    const file = ended.outputFile && (await work.files.get('a', ended.outputFile, at));
    expect(file).toMatchObject({
      purpose: 'batch_output',
      filename: `${batch.id}_output.jsonl`,
      createdAt: at,
      expiresAt: at + 3600,
    });
  });

  it('leaves no parts behind', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(5));
    await work.job().run(batch.id, never);
    expect(await Array.fromAsync(work.blobs.list('batches/', never))).toEqual([]);
    expect(await work.batches.parts(batch.id)).toEqual([]);
  });

  it('has a row of usage for each line, with its request and its charge', async () => {
    const work = await batchWork({ prices: [CHAT_PRICE] });
    await work.accounts.credits.grant('a', 1000, 0);
    const batch = await work.create(lines(20));
    await work.job().run(batch.id, never);
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

  it('is nothing to do when there is none, or when it has ended', async () => {
    const work = await batchWork();
    expect(await work.job().run('batch_none', never)).toEqual(DONE);
    const batch = await work.create(lines(1));
    await work.job().run(batch.id, never);
    const ended = await work.get(batch);
    expect(await work.job().run(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toEqual(ended);
  });

  it('whose input is faulty fails, and tells where', async () => {
    const work = await batchWork();
    const batch = await work.create(`${lines(1)}{}\n`);
    const untouched: CallOperation = () => {
      throw new Error('no line may run');
    };
    expect(await work.job(untouched).run(batch.id, never)).toEqual(DONE);
    expect(await work.get(batch)).toMatchObject({
      status: 'failed',
      counts: { total: 0, completed: 0, failed: 0 },
      faults: [
        { code: 'missing_required_parameter', param: 'custom_id', line: 2 },
        { code: 'missing_required_parameter', param: 'body', line: 2 },
      ],
      outputFile: undefined,
      errorFile: undefined,
    });
  });
});

describe('a line that fails', () => {
  it('has its error in the error file, and stops no other', async () => {
    const work = await batchWork();
    const fails = [
      { fail: ['not_found', 'no such model', { code: 'model_not_found' }] },
      {},
      { fail: ['invalid_request', 'too hot'] },
      { fail: ['insufficient_quota', 'no credits', { code: 'insufficient_quota' }] },
    ];
    const batch = await work.create(lines(4, (place) => fails[place] ?? {}));
    await work.job(failing).run(batch.id, never);
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

  it('inside says nothing of what was thrown, and is logged once', async () => {
    const work = await batchWork();
    const batch = await work.create(lines(3));
    await work
      .job(async () => {
        throw new TypeError('private text');
      })
      .run(batch.id, never);
    const { error } = await work.results(batch);
    expect(error.map((line) => line.error?.code)).toEqual(['server_error', 'server_error', 'server_error']);
    expect(JSON.stringify(error)).not.toContain('private');
    expect(work.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('for a while is tried again, and is billed once', async () => {
    const work = await batchWork({ prices: [CHAT_PRICE] });
    await work.accounts.credits.grant('a', 1000, 0);
    const batch = await work.create(lines(10));
    const tries = new Map<string, number>();
    const unsure: CallOperation = async (body, order, signal) => {
      const answer = await echo(body, order, signal);
      const key = JSON.stringify(body) + order.caller.requestId;
      tries.set(key, 1);
      if (tries.size % 3 !== 0) throw new ServiceError('upstream', 'not now');
      return answer;
    };
    await work.job(unsure).run(batch.id, never);
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

  it('for long has failed, also when its batch gave way in between', async () => {
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
    expect(await job.run(batch.id, stop.signal)).toEqual(AGAIN);
    expect(await job.run(batch.id, never)).toEqual(DONE);
    expect(tries).toBe(4);
    const { error } = await work.results(batch);
    expect(error[0]?.error).toEqual({ code: 'server_error', message: 'too slow' });
  });
});
