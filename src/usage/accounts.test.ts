import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { metricValue } from '../../test/harness/metric-values.ts';
import { noCallLimits } from '../../tools/harness/doubles/doubles.ts';
import { SPEECH_PRICE, sharedAccounts, speechCall } from '../../tools/harness/doubles/usage-parts.ts';
import type { CallJournal } from '../contract/accounts/accounts-store.ts';
import { ServiceError } from '../contract/core/error.ts';
import { createMetrics } from '../metrics/registry.ts';
import { Accounts } from './accounts.ts';
import { CallLedger } from './call-ledger.ts';
import { creditNumber } from './credit-amounts.ts';
import { priceList } from './prices.ts';
import { rowMetrics } from './row-metrics.ts';

let shared: ReturnType<typeof sharedAccounts>;
beforeEach(() => {
  shared = sharedAccounts();
});
afterEach(() => shared.close());

const DONE = { status: 'completed', inputTokens: 3, outputTokens: 40 } as const;
/** A free model. */
const FREE = { model: 'free' };

describe('a call', () => {
  it('is open until it is closed, and becomes one row with the time of the close', async () => {
    const { accounts, self } = shared.process();
    const opening = speechCall(0, FREE);
    const call = await accounts.openCall(opening);
    expect(await shared.rows()).toEqual([]);
    const [open] = await shared.journal.listOpenCalls(self.id, 5);
    expect(open).toMatchObject({ requestId: opening.caller.requestId, openedAt: 1_767_323_045, reserved: 0 });
    shared.clock.advance(5000);
    await call.close({ ...DONE, characters: 7, audioBytes: 96, audioSeconds: 0.5, transcript: 'Hi.' });
    const { endpoint, model, caller } = opening;
    const { organization, requestId } = caller;
    expect(await shared.rows()).toEqual([
      {
        id: open?.id,
        createdAt: 1_767_323_050,
        endpoint,
        model,
        organization,
        requestId,
        ...DONE,
        characters: 7,
        audioBytes: 96,
        audioSeconds: 0.5,
        transcript: 'Hi.',
      },
    ]);
    expect(await shared.journal.listOpenCalls(self.id, 5)).toEqual([]);
  });

  it.each(['close', 'discard'] as const)('closes once, and ignores calls after %s', async (first) => {
    const { accounts } = shared.process();
    await shared.credits.grant('a', 100, 0);
    const call = await accounts.openCall(speechCall(10));
    const close = () => call.close({ ...DONE, characters: 10 });
    const discard = () => call.discard();
    const ends = first === 'close' ? [close(), discard(), close()] : [discard(), close(), discard()];
    await Promise.all(ends);
    await close();
    expect(await shared.rows()).toHaveLength(first === 'close' ? 1 : 0);
    expect(await shared.credits.balance('a')).toMatchObject({
      available: first === 'close' ? 88 : 100,
      reserved: 0,
    });
  });
});

describe('a call with a price', () => {
  it('reserves its maximum cost and is charged its actual cost', async () => {
    const { accounts } = shared.process();
    await shared.credits.grant('a', 100, 0);
    const call = await accounts.openCall(speechCall(50));
    expect(await shared.credits.balance('a')).toMatchObject({ available: 48, reserved: 52 });
    await call.close({ ...DONE, characters: 20 });
    expect(await shared.credits.balance('a')).toMatchObject({ available: 78, reserved: 0, revenue: 22 });
  });

  it('that is not covered is rejected with the required and available credits', async () => {
    const { accounts, self } = shared.process();
    await shared.credits.grant('a', 1_500_000, 0);
    const refused = await accounts.openCall(speechCall(2_000_000)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ServiceError);
    expect(refused).toMatchObject({
      status: 429,
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message:
        'Insufficient credits: this request may cost up to 2.000002, and 1.5 are available. Request less or add credits.',
    });
    expect(await shared.journal.listOpenCalls(self.id, 5)).toEqual([]);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 1_500_000, reserved: 0 });
  });

  it('that exceeds its reservation is charged from the available credits, and logged', async () => {
    const { accounts } = shared.process();
    await shared.credits.grant('a', 20, 0);
    const call = await accounts.openCall(speechCall(10));
    await call.close({ ...DONE, characters: 30 });
    expect(await shared.credits.balance('a')).toMatchObject({ available: 0, reserved: 0, revenue: 20 });
    expect(shared.log.lines).toMatchObject([
      { level: 'warn', message: 'cost of a call exceeded its credits', fields: { missing: '0.000012' } },
    ]);
  });

  it('without usage needs no credits', async () => {
    const { accounts } = shared.process();
    const call = await accounts.openCall(speechCall(10, FREE));
    await call.close({ ...DONE, characters: 10 });
    expect(await shared.credits.history('a', { limit: 5 })).toEqual([]);
  });

  it('never exceeds the available credits with 200 concurrent callers', async () => {
    const { accounts } = shared.process();
    await shared.credits.grant('a', 1000, 0);
    const lowest = { available: 1000, reserved: 0 };
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, async (_, caller) => {
        const call = await accounts.openCall(speechCall(38)).catch(() => undefined);
        const { available, reserved } = await shared.credits.balance('a');
        lowest.available = Math.min(lowest.available, available);
        lowest.reserved = Math.min(lowest.reserved, reserved);
        await call?.close({ ...DONE, characters: caller % 40 });
        return call !== undefined;
      }),
    );
    expect(Math.min(lowest.available, lowest.reserved)).toBeGreaterThanOrEqual(0);
    const balance = await shared.credits.balance('a');
    expect(balance).toMatchObject({ reserved: 0, granted: -1000 });
    expect(balance.available + balance.revenue).toBe(1000);
    expect(balance.available).toBeGreaterThanOrEqual(0);
    const rows = await shared.rows();
    expect(rows).toHaveLength(outcomes.filter(Boolean).length);
    expect(rows.length).toBeGreaterThanOrEqual(25);
    expect(rows.length).toBeLessThan(200);
  });
});

describe('a failing store', () => {
  const disk = () => Promise.reject(new Error('disk'));
  /** Accounts with a journal whose named methods fail. */
  function failing(names: (keyof CallJournal)[]) {
    const journal = { ...shared.journal };
    for (const name of names) journal[name] = disk;
    const metrics = createMetrics(shared.clock);
    const { clock, log } = shared;
    const findPrice = priceList([SPEECH_PRICE]);
    const ledger = new CallLedger({ journal, findPrice, instance: 'i', clock, log });
    const accounts = new Accounts({
      ledger,
      rows: rowMetrics(metrics),
      journal,
      limits: noCallLimits,
      clock,
      log,
      metrics,
    });
    return { accounts, ledger, repair: () => void Object.assign(journal, shared.journal), metrics };
  }

  it('opens no call', async () => {
    await expect(failing(['openCall']).accounts.openCall(speechCall(1, FREE))).rejects.toThrow('disk');
  });

  it('is retried in the background when closing a call fails', async () => {
    const { accounts, ledger, repair, metrics } = failing(['closeCall', 'discardCall']);
    await shared.credits.grant('a', 100, 0);
    const closed = await accounts.openCall(speechCall(10));
    const discarded = await accounts.openCall(speechCall(20));
    const { reserved } = await shared.credits.balance('a');
    expect(reserved).toBeGreaterThan(0);
    expect(await metricValue(metrics, 'usage_reserved_credits')).toBe(creditNumber(reserved));
    expect(await metricValue(metrics, 'usage_open_calls')).toBe(2);
    await closed.close({ ...DONE, characters: 10 });
    await discarded.discard();
    expect(shared.log.lines).toMatchObject([
      { level: 'error', message: 'usage row could not be written' },
      { level: 'error', message: 'usage row could not be written' },
    ]);
    await expect(ledger.retryPending()).rejects.toThrow('disk');
    repair();
    await ledger.retryPending();
    await ledger.retryPending();
    expect(await shared.rows()).toMatchObject([{ status: 'completed', characters: 10 }]);
    expect(await shared.credits.balance('a')).toMatchObject({ available: 88, reserved: 0 });
    expect(await metrics.render()).toContain(
      'usage_rows_total{endpoint="/v1/audio/speech",status="completed"} 1',
    );
    expect(await metricValue(metrics, 'usage_reserved_credits')).toBe(0);
    expect(await metricValue(metrics, 'usage_open_calls')).toBe(0);
    metrics.close();
  });

  it('writes one row if it stored a close but reported an error', async () => {
    const { accounts, ledger, repair, metrics } = failing(['closeCall']);
    const call = await accounts.openCall(speechCall(1, FREE));
    await call.close(DONE);
    repair();
    const [open] = await shared.journal.listOpenCalls('i', 1);
    if (open !== undefined) await accounts.recover(open);
    await ledger.retryPending();
    expect(await shared.rows()).toHaveLength(1);
    expect(shared.log.lines.at(-1)).toMatchObject({ message: 'call already had a usage row' });
    metrics.close();
  });
});
