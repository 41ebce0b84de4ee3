import { describe, expect, test } from 'vitest';
import {
  type BatchResult,
  type Books,
  batchViolations,
  type Call,
  callViolations,
  creditViolations,
  type ExpectedBatch,
  type Fault,
  Ledger,
  type UsageRow,
  usageViolations,
} from '../../soak/report/ledger.ts';

/** The ledger of a soak run detects lost, duplicated and truncated results. */

const call = (fields: Partial<Call> = {}): Call => ({
  load: 'speech',
  organization: 'o',
  node: 'a',
  rows: 'one',
  beganMs: 1000,
  endedMs: 2000,
  end: 'right',
  status: 200,
  requestId: 'req_1',
  ...fields,
});
const row = (fields: Partial<UsageRow> = {}): UsageRow => ({
  id: 'usage_1',
  organization: 'o',
  requestId: 'req_1',
  status: 'completed',
  ...fields,
});
const killed: Fault = {
  name: 'machine',
  nodes: ['a'],
  excuses: ['cut', 'unreachable'],
  fromMs: 1500,
  toMs: 1800,
};

describe('calls', () => {
  test.each(['right', 'rejected', 'failed', 'left'] as const)('accepts the outcome %s', (end) => {
    expect(callViolations([call({ end })], [])).toEqual([]);
  });

  test.each(['wrong', 'untyped', 'late'] as const)('reports the outcome %s even during a fault', (end) => {
    expect(callViolations([call({ end, detail: 'why' })], [killed])).toEqual([
      `speech at 1 s on a (req_1): ${end}: why`,
    ]);
  });

  test('a call that never ended is reported', () => {
    const ledger = new Ledger(() => 0);
    ledger.begin({ load: 'speech', organization: 'o', node: 'a', rows: 'one' });
    expect(callViolations(ledger.calls, [])).toEqual([
      'speech at 0 s on a (without a request id): never ended',
    ]);
  });

  test('counts only the first outcome of a call', () => {
    const ledger = new Ledger(() => 0);
    const entry = ledger.begin({ load: 'speech', organization: 'o', node: 'a', rows: 'one' });
    entry.end('late', 'nothing came');
    entry.end('right');
    expect(callViolations(ledger.calls, [])).toHaveLength(1);
  });

  test.each<[string, Partial<Call>, Fault[], number]>([
    ['while its node was killed', {}, [killed], 0],
    ['without a fault', {}, [], 1],
    ['on another node', { node: 'b' }, [killed], 1],
    ['before the fault', { endedMs: 1400 }, [killed], 1],
    ['after the fault', { beganMs: 1900 }, [killed], 1],
    ['during a fault that does not excuse it', {}, [{ ...killed, excuses: [] }], 1],
  ])('reports a broken connection unless excused: %s', (_, fields, faults, count) => {
    expect(callViolations([call({ end: 'cut', ...fields })], faults)).toHaveLength(count);
  });

  test('a fault lasts until it is repaired', () => {
    const ledger = new Ledger(() => 100);
    ledger.recordFault({ name: 'machine', nodes: ['a'], excuses: ['cut'] });
    expect(callViolations([call({ end: 'cut' })], ledger.faults)).toEqual([]);
  });
});

describe('usage rows', () => {
  test('accepts one row per call', () => {
    expect(usageViolations([call()], [row()], [])).toEqual([]);
  });

  test.each<[string, Call[], UsageRow[], RegExp]>([
    ['a lost row', [call()], [], /has no usage row/],
    ['a duplicate row', [call()], [row(), row({ id: 'usage_2' })], /has 2 usage rows/],
    ['two rows with one id', [call()], [row(), row({ requestId: 'req_2' })], /id of another/],
    [
      'a row without a request',
      [call()],
      [row(), row({ id: 'usage_2', requestId: 'req_2' })],
      /1 usage rows of 0/,
    ],
    ['a successful call with a failed row', [call()], [row({ status: 'failed' })], /its row says failed/],
    ['a turn without a row', [call({ requestId: undefined as never })], [], /0 completed usage rows/],
  ])('%s is reported', (_, calls, rows, fault) => {
    const ended = calls.map(({ requestId, ...rest }) => (requestId ? { ...rest, requestId } : rest));
    expect(usageViolations(ended, rows, []).join('\n')).toMatch(fault);
  });

  test('requires none for rejected calls and allows one for calls without a response head', () => {
    const { requestId: _, status: __, ...cut } = call({ end: 'cut' });
    expect(usageViolations([call({ end: 'rejected', status: 503 })], [], [])).toEqual([]);
    expect(usageViolations([cut], [], [])).toEqual([]);
    expect(usageViolations([cut], [row({ status: 'failed' })], [])).toEqual([]);
  });

  test('requires one for calls that the client aborted', () => {
    expect(usageViolations([call({ end: 'left' })], [row({ status: 'cancelled' })], [])).toEqual([]);
    expect(usageViolations([call({ end: 'left' })], [], [])).toHaveLength(1);
  });
});

describe('batches', () => {
  const batch: ExpectedBatch = {
    id: 'batch_1',
    organization: 'o',
    site: 'main',
    lines: new Map([
      ['one', { tokens: 3 }],
      ['two', { tokens: 4 }],
      ['bad', { error: 'model_not_found' }],
    ]),
  };
  const done = (custom_id: string, tokens: number) => ({
    custom_id,
    error: null,
    response: { request_id: `req_${custom_id}`, body: { usage: { prompt_tokens: tokens } } },
  });
  const failed = (custom_id: string, code: string) => ({ custom_id, response: null, error: { code } });
  const right: BatchResult = {
    status: 'completed',
    counts: { total: 3, completed: 2, failed: 1 },
    output: [done('one', 3), done('two', 4)],
    error: [failed('bad', 'model_not_found')],
  };
  const rows = ['one', 'two'].map((name) => row({ id: `usage_${name}`, requestId: `req_${name}` }));

  test('accepts one correct result per line', () => {
    expect(batchViolations(batch, right, rows)).toEqual([]);
  });

  test.each<[string, Partial<BatchResult>, RegExp]>([
    ['a lost line', { output: [done('one', 3)] }, /two has no result/],
    ['a duplicate line', { output: [...right.output, done('two', 4)] }, /two has 2 results/],
    ['a line in both files', { error: [...right.error, failed('one', 'x')] }, /one has 2 results/],
    ['a line of another batch', { output: [...right.output, done('three', 5)] }, /three was never asked for/],
    ['the result of another line', { output: [done('one', 4), done('two', 4)] }, /one has a wrong result/],
    ['an unexpected failure', { error: [failed('bad', 'server_error')] }, /failed with server_error/],
    ['wrong counts', { counts: { total: 3, completed: 3, failed: 0 } }, /counts 3 completed and not 2/],
    ['an expired batch', { status: 'expired' }, /is expired/],
  ])('%s is reported', (_, fields, fault) => {
    expect(batchViolations(batch, { ...right, ...fields }, rows).join('\n')).toMatch(fault);
  });

  test('a line that is billed never or twice is reported', () => {
    expect(batchViolations(batch, right, rows.slice(1))).toEqual(['batch_1: one has 0 usage rows']);
    expect(batchViolations(batch, right, [...rows, ...rows])).toHaveLength(2);
  });
});

describe('credits', () => {
  const balance = { available: 70, reserved: 0, revenue: 30, granted: -100 };
  const books: Books = { organization: 'o', ...balance, entries: balance, cost: 30 };

  test('books that are in order have no faults', () => {
    expect(creditViolations(books)).toEqual([]);
  });

  test.each<[string, Partial<Books>, RegExp]>([
    ['an additional credit', { available: 71 }, /add up to 1/],
    ['a remaining reservation', { available: 60, reserved: 10 }, /10 are still reserved/],
    ['a row that was charged twice', { cost: 15 }, /30 were charged for what costs 15/],
    ['a balance that differs from its entries', { entries: { ...balance, revenue: 29 } }, /'revenue' is 30/],
  ])('%s is reported', (_, fields, fault) => {
    expect(creditViolations({ ...books, ...fields }).join('\n')).toMatch(fault);
  });
});
