import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sharedAccounts, speechCall } from '../../tools/harness/doubles/usage-parts.ts';
import type { LineBill } from '../contract/accounts/calls.ts';
import { createMetrics } from '../metrics/registry.ts';
import { lineBills } from '../records/stores/line-bills.ts';

let shared: ReturnType<typeof sharedAccounts>;
beforeEach(async () => {
  shared = sharedAccounts();
  await shared.credits.grant('a', 100, 0);
});
afterEach(() => shared.close());

const DONE = { status: 'completed', inputTokens: 3, outputTokens: 40 } as const;
const FREE = { model: 'free' };

/** Stores the bills as a checkpoint does. */
const checkpoint = (bills: readonly LineBill[]) =>
  shared.records.db
    .transaction()
    .execute((transaction) => lineBills(shared.records.engine)(transaction, bills));

describe('a call of a batch line', () => {
  it('with a price reserves credits until the checkpoint, which writes its row and charge', async () => {
    const { lines, self } = shared.process();
    const { calls, bills } = lines.forLine();
    const opening = speechCall(50);
    const call = await calls.openCall(opening);
    expect(await shared.journal.listOpenCalls(self.id, 5)).toMatchObject([{ repeated: true, reserved: 52 }]);
    expect(bills()).toEqual([]);
    shared.clock.advance(5000);
    await call.close({ ...DONE, characters: 20 });
    expect(await shared.rows()).toEqual([]);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 48, reserved: 52 });
    const { endpoint, model, caller } = opening;
    const { organization, requestId } = caller;
    const record = {
      id: expect.stringMatching(/^usage_/),
      createdAt: 1_767_323_050,
      endpoint,
      model,
      organization,
      requestId,
      ...DONE,
      characters: 20,
    };
    expect(bills()).toEqual([{ record, cost: 22, hasReservation: true }]);
    await checkpoint(bills());
    expect(await shared.rows()).toEqual([record]);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 78, reserved: 0, revenue: 22 });
  });

  it('is counted as a row when it is stored', async () => {
    const metrics = createMetrics(shared.clock);
    const { lines } = shared.process({ metrics });
    const { calls, bills } = lines.forLine();
    await (await calls.openCall(speechCall(50, FREE))).close({ ...DONE, characters: 20 });
    expect(await metrics.render()).not.toContain('usage_rows_total{');
    lines.recordStored(bills());
    expect(await metrics.render()).toContain(
      'usage_rows_total{endpoint="/v1/audio/speech",status="completed"} 1',
    );
    metrics.close();
  });

  it('without a price accesses no store before the checkpoint', async () => {
    const { lines, self } = shared.process();
    const { calls, bills } = lines.forLine();
    const call = await calls.openCall(speechCall(50, FREE));
    expect(await shared.journal.listOpenCalls(self.id, 5)).toEqual([]);
    await call.close({ ...DONE, characters: 20 });
    expect(bills()).toMatchObject([{ cost: 0, hasReservation: false }]);
    await checkpoint(bills());
    expect(await shared.rows()).toMatchObject([{ status: 'completed', characters: 20 }]);
    expect(await shared.credits.history('a', { limit: 5 })).toHaveLength(1);
  });

  it('that credits do not cover is rejected without a trace', async () => {
    const { lines, self } = shared.process();
    const { calls, bills } = lines.forLine();
    await expect(calls.openCall(speechCall(99))).rejects.toMatchObject({ kind: 'insufficient_quota' });
    expect(bills()).toEqual([]);
    expect(await shared.journal.listOpenCalls(self.id, 5)).toEqual([]);
  });

  it('that was discarded has no bill and no reservation', async () => {
    const { lines } = shared.process();
    const { calls, bills } = lines.forLine();
    for (const opening of [speechCall(50), speechCall(50, FREE)]) {
      const call = await calls.openCall(opening);
      await call.discard();
      await call.close(DONE);
    }
    expect(bills()).toEqual([]);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 100, reserved: 0 });
  });

  it('closes once', async () => {
    const { lines } = shared.process();
    const { calls, bills } = lines.forLine();
    const call = await calls.openCall(speechCall(50));
    await Promise.all([call.close({ ...DONE, characters: 1 }), call.close(DONE), call.discard()]);
    expect(bills()).toMatchObject([{ record: { characters: 1 }, hasReservation: true }]);
    expect(await shared.credits.balance('a')).toMatchObject({ reserved: 52 });
  });

  it('has only the bills of its own run', async () => {
    const { lines } = shared.process();
    const [first, second] = [lines.forLine(), lines.forLine()];
    await (await first.calls.openCall(speechCall(1, FREE))).close(DONE);
    expect(first.bills()).toHaveLength(1);
    expect(second.bills()).toEqual([]);
  });
});

describe('discarded bills', () => {
  it('have no reservation and no row', async () => {
    const { lines } = shared.process();
    const { calls, bills } = lines.forLine();
    for (const opening of [speechCall(10), speechCall(20), speechCall(30, FREE)]) {
      await (await calls.openCall(opening)).close({ ...DONE, characters: 10 });
    }
    await lines.discard(bills());
    expect(await shared.rows()).toEqual([]);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 100, reserved: 0, revenue: 0 });
  });

  it('are released on a later heartbeat if the store fails, with one log line', async () => {
    const { lines, watch } = shared.process();
    const { calls, bills } = lines.forLine();
    for (const characters of [10, 20, 30]) await (await calls.openCall(speechCall(characters))).close(DONE);
    await shared.records.db.schema.alterTable('open_calls').renameTo('away').execute();
    await lines.discard(bills());
    expect(shared.log.lines).toMatchObject([
      { message: 'calls could not be discarded', fields: { calls: 3 } },
    ]);
    await shared.records.db.schema.alterTable('away').renameTo('open_calls').execute();
    await watch.beat();
    expect(await shared.credits.balance('a')).toMatchObject({ available: 100, reserved: 0 });
  });
});
