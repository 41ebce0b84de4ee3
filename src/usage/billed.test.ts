import { describe, expect, it } from 'vitest';
import { RecordedCalls, type RecordedCallsOptions } from '../../tools/harness/doubles/recorded-calls.ts';
import type { UsageStatus } from '../contract/accounts/usage.ts';
import { ServiceError } from '../contract/core/error.ts';
import { type BilledWork, billed, billedResult, type CallPlan, type Meter } from './billed.ts';

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;
const MAX_USAGE = { inputTokens: 9, outputTokens: 9 };
const never = new AbortController().signal;
const full = new ServiceError('overloaded', 'Full.');

/** Counts items. `last` is the last item. */
class CountingMeter implements Meter<string> {
  readonly statuses: UsageStatus[] = [];
  items = 0;

  get hasOutput(): boolean {
    return this.items > 0;
  }

  add(): void {
    this.items += 1;
  }

  isLast(item: string): boolean {
    return item === 'last';
  }

  usage(status: UsageStatus, hasReservation: boolean) {
    this.statuses.push(status);
    return { inputTokens: hasReservation ? 1 : 0, outputTokens: this.items };
  }
}

/** A meter without a last item. Calls without output leave no usage row. */
class OpenEndedMeter implements Meter<string> {
  hasOutput = false;

  add(): void {
    this.hasOutput = true;
  }

  usage() {
    return this.hasOutput ? { inputTokens: 0, outputTokens: 1 } : undefined;
  }
}

interface Options extends RecordedCallsOptions, Partial<Pick<CallPlan, 'rejections'>> {
  readonly items?: readonly string[];
  readonly failure?: unknown;
  readonly meter?: Meter<string>;
  readonly signal?: AbortSignal;
  readonly onItem?: (item: string) => void;
}

function setup({ items = ['one', 'last'], failure, signal = never, ...options }: Options = {}) {
  const { rejections, meter = new CountingMeter() } = options;
  const calls = new RecordedCalls(options);
  const seen = { leftEarly: 0, closed: 0, reservations: [] as boolean[] };
  const work: BilledWork<string> = async function* (hasReservation) {
    seen.reservations.push(hasReservation);
    let isComplete = false;
    try {
      yield* items;
      isComplete = true;
      if (failure !== undefined) throw failure;
    } finally {
      if (!isComplete) seen.leftEarly += 1;
    }
  };
  const plan = {
    endpoint: 'POST /v1/embeddings' as const,
    model: 'm',
    caller: CALLER,
    maxUsage: MAX_USAGE,
    calls,
    rejections,
    onClosed: () => {
      seen.closed += 1;
    },
  };
  return { calls, rows: calls.rows, seen, stream: billed(plan, meter, work, signal, options.onItem), plan };
}

describe('a billed stream', () => {
  it('opens the call before the work, and closes it before the last item', async () => {
    const { stream, calls, rows, seen } = setup();
    expect((await stream.next()).value).toBe('one');
    expect([calls.openings, rows, seen.closed]).toEqual([
      [expect.objectContaining({ maxUsage: MAX_USAGE })],
      [],
      0,
    ]);
    expect((await stream.next()).value).toBe('last');
    expect(rows).toMatchObject([{ status: 'completed', outputTokens: 2, endpoint: 'POST /v1/embeddings' }]);
    expect((await stream.next()).done).toBe(true);
    expect([rows.length, calls.unended, seen.closed]).toEqual([1, 0, 1]);
  });

  it('without a special last item closes the call before it ends', async () => {
    const { stream, rows } = setup({ meter: new OpenEndedMeter(), items: ['one', 'two'] });
    await stream.next();
    await stream.next();
    expect(rows).toEqual([]);
    expect((await stream.next()).done).toBe(true);
    expect(rows).toMatchObject([{ status: 'completed' }]);
  });

  it('without usage leaves no row', async () => {
    const { stream, rows, calls } = setup({ meter: new OpenEndedMeter(), items: [] });
    expect(await Array.fromAsync(stream)).toEqual([]);
    expect([rows, calls.openings.length, calls.unended]).toEqual([[], 1, 0]);
  });

  it('passes to the work and the meter whether credits are reserved', async () => {
    for (const holds of [true, false]) {
      const { stream, seen, rows } = setup({ holds });
      await Array.fromAsync(stream);
      expect([seen.reservations, rows[0]?.inputTokens]).toEqual([[holds], holds ? 1 : 0]);
    }
  });

  it('whose call cannot be opened does not start', async () => {
    const { stream, seen, rows } = setup({ opening: () => Promise.reject(new Error('no credits')) });
    await expect(stream.next()).rejects.toThrow('no credits');
    expect([seen.reservations, rows, seen.closed]).toEqual([[], [], 1]);
  });

  it.each([
    ['discarded', [], []],
    ['recorded', [], ['failed']],
    ['discarded', ['one'], ['failed']],
  ] as const)(
    'whose rejections are %s, rejected after %j, has the rows %j',
    async (rejections, items, statuses) => {
      const { stream, rows, calls } = setup({ items, rejections, failure: full });
      await expect(Array.fromAsync(stream)).rejects.toBe(full);
      expect(rows.map(({ status }) => status)).toEqual(statuses);
      expect(calls.unended).toBe(0);
    },
  );

  it('that ends without its last item has failed', async () => {
    const { stream, rows } = setup({ items: ['one'] });
    await expect(Array.fromAsync(stream)).rejects.toThrow('the work ended without its last item');
    expect(rows).toMatchObject([{ status: 'failed', outputTokens: 1 }]);
  });

  it('that the consumer leaves is cancelled after the work was stopped', async () => {
    const { stream, rows, seen } = setup({ stored: () => expect(seen.leftEarly).toBe(1) });
    for await (const _ of stream) break;
    expect(rows).toMatchObject([{ status: 'cancelled', outputTokens: 1 }]);
    expect(seen.closed).toBe(1);
  });

  it('that the consumer leaves at the last item is completed', async () => {
    const { stream, rows } = setup();
    for await (const item of stream) if (item === 'last') break;
    expect(rows).toMatchObject([{ status: 'completed' }]);
  });

  it('fails by an error that is thrown into it', async () => {
    const { stream, rows, seen } = setup();
    await stream.next();
    await expect(stream.throw(full)).rejects.toBe(full);
    expect([rows.map(({ status }) => status), seen.leftEarly]).toEqual([['failed'], 1]);
  });

  it('is cancelled by an abort, and neither counts nor reports later items', async () => {
    const stop = new AbortController();
    const reported: string[] = [];
    const { stream, rows } = setup({ signal: stop.signal, onItem: (item) => void reported.push(item) });
    await stream.next();
    stop.abort(full);
    await expect(stream.next()).rejects.toBe(full);
    expect(reported).toEqual(['one']);
    expect(rows).toMatchObject([{ status: 'cancelled', outputTokens: 1 }]);
  });
});

describe('a billed result', () => {
  const usage = (result: string | undefined) => ({ inputTokens: result?.length ?? 0, outputTokens: 0 });

  it('is returned after its row is stored', async () => {
    const { plan, rows } = setup();
    expect(await billedResult(plan, usage, async () => 'abc', never)).toBe('abc');
    expect(rows).toMatchObject([{ status: 'completed', inputTokens: 3 }]);
  });

  it.each([
    [full, []],
    [new Error('why'), ['failed']],
  ])('that ends with %s has the rows %j', async (failure, statuses) => {
    const { plan, rows } = setup();
    await expect(billedResult(plan, usage, () => Promise.reject(failure), never)).rejects.toBe(failure);
    expect(rows.map(({ status }) => status)).toEqual(statuses);
  });
});
