import { describe, expect, test } from 'vitest';
import {
  type CallJournal,
  type CreditBalance,
  type CreditStore,
  type JournalCall,
  MAX_GRANTED,
  type MicroCredits,
} from '../../src/contract/accounts/accounts-store.ts';
import type { LineBill } from '../../src/contract/accounts/calls.ts';
import type { UsageRecord, UsageStatus } from '../../src/contract/accounts/usage.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { UsageRows } from '../harness/usage-rows.ts';

/** Journal, credits and usage in one database. */
export interface AccountStores {
  readonly calls: CallJournal;
  readonly credits: CreditStore;
  readonly usage: UsageRows;
  /**
   * Stores the bills of batch lines in a separate transaction, which then fails with `failing`, if given.
   * @returns the part of the cost that the credits did not cover.
   */
  storeBills(bills: readonly LineBill[], failing?: Error): Promise<MicroCredits>;
}

const AT = 1_767_323_045;

export function journalCall(overrides: Partial<JournalCall> = {}): JournalCall {
  return {
    id: newId('usage_'),
    instance: 'i1',
    openedAt: AT,
    endpoint: '/v1/audio/speech',
    organization: 'a',
    requestId: newId('req_'),
    model: 'svc-tts',
    reserved: 0,
    repeated: false,
    ...overrides,
  };
}

/** The usage record of a finished call. */
export function rowOf(call: JournalCall, status: UsageStatus = 'completed'): UsageRecord {
  const { id, endpoint, organization, requestId, model } = call;
  return {
    id,
    endpoint,
    organization,
    requestId,
    model,
    status,
    createdAt: AT + 9,
    inputTokens: 1,
    outputTokens: 2,
  };
}

/** Contract of the call journal and the credit store. `open` returns empty stores. */
export function accountStoreCases(open: () => Promise<AccountStores>): void {
  const funded = async (amount = 100) => {
    const stores = await open();
    await stores.credits.grant('a', amount, AT);
    return stores;
  };
  const balance = (overrides: Partial<CreditBalance>) => ({
    available: 0,
    reserved: 0,
    revenue: 0,
    granted: 0,
    ...overrides,
  });
  const rows = async ({ usage }: AccountStores, organization = 'a') =>
    (await usage.list({ organization, limit: 300 })).records;

  const days = ({ usage }: AccountStores, organization = 'a') =>
    usage.days({ organization, from: 0, to: 99_999 });

  describe('a grant', () => {
    test('adds to the available credits', async () => {
      const { credits } = await open();
      expect(await credits.balance('a')).toEqual(balance({}));
      expect(await credits.grant('a', 70, AT)).toEqual(balance({ available: 70, granted: -70 }));
      expect(await credits.grant('a', 30, AT)).toEqual(balance({ available: 100, granted: -100 }));
      expect(await credits.balance('a')).toEqual(balance({ available: 100, granted: -100 }));
      expect(await credits.balance('b')).toEqual(balance({}));
    });

    test('above the maximum sum is rejected and changes nothing', async () => {
      const { credits } = await open();
      await credits.grant('a', MAX_GRANTED - 1, AT);
      await expect(credits.grant('a', 2, AT)).rejects.toMatchObject({ kind: 'invalid_request' });
      expect(await credits.grant('a', 1, AT)).toEqual(
        balance({ available: MAX_GRANTED, granted: -MAX_GRANTED }),
      );
    });
  });

  describe('a call without reservation', () => {
    test('needs no credits, stays open until it is closed, and is closed once', async () => {
      const stores = await open();
      const call = journalCall();
      expect(await stores.calls.openCall(call)).toBeUndefined();
      expect(await stores.calls.listOpenCalls('i1', 5)).toEqual([call]);
      expect(await rows(stores)).toEqual([]);
      expect(await stores.calls.closeCall(rowOf(call), 0)).toEqual({ charged: 0 });
      expect(await stores.calls.listOpenCalls('i1', 5)).toEqual([]);
      expect(await rows(stores)).toEqual([rowOf(call)]);
      expect(await stores.calls.closeCall(rowOf(call), 0)).toBeUndefined();
      expect(await rows(stores)).toHaveLength(1);
      expect(await stores.credits.balance('a')).toEqual(balance({}));
    });

    test('is charged up to the available credits', async () => {
      const stores = await funded(5);
      const [first, second, penniless] = [journalCall(), journalCall(), journalCall({ organization: 'b' })];
      for (const call of [first, second, penniless]) await stores.calls.openCall(call);
      expect(await stores.calls.closeCall(rowOf(first), 3)).toEqual({ charged: 3 });
      expect(await stores.calls.closeCall(rowOf(second), 3)).toEqual({ charged: 2 });
      expect(await stores.calls.closeCall(rowOf(penniless), 3)).toEqual({ charged: 0 });
      expect(await stores.credits.balance('a')).toEqual(balance({ revenue: 5, granted: -5 }));
      expect(await stores.credits.balance('b')).toEqual(balance({}));
    });
  });

  describe('a call with a reservation', () => {
    test('reserves credits until it is closed, which charges and releases them', async () => {
      const stores = await funded(100);
      const call = journalCall({ reserved: 60 });
      expect(await stores.calls.openCall(call)).toBeUndefined();
      expect(await stores.credits.balance('a')).toEqual(
        balance({ available: 40, reserved: 60, granted: -100 }),
      );
      expect(await stores.calls.closeCall(rowOf(call), 25)).toEqual({ charged: 25 });
      expect(await stores.credits.balance('a')).toEqual(
        balance({ available: 75, revenue: 25, granted: -100 }),
      );
      expect(await days(stores)).toMatchObject([{ requests: 1, inputTokens: 1, charged: 25 }]);
    });

    test('is rejected without effect if the available credits do not suffice', async () => {
      const stores = await funded(50);
      expect(await stores.calls.openCall(journalCall({ reserved: 51 }))).toEqual({ available: 50 });
      expect(await stores.calls.openCall(journalCall({ reserved: 1, organization: 'b' }))).toEqual({
        available: 0,
      });
      expect(await stores.calls.listOpenCalls('i1', 5)).toEqual([]);
      expect(await stores.credits.history('a', { limit: 5 })).toHaveLength(1);
      expect(await stores.calls.openCall(journalCall({ reserved: 50 }))).toBeUndefined();
    });

    test('that costs more is charged from the available credits, down to zero', async () => {
      const stores = await funded(100);
      const calls = [journalCall({ reserved: 40 }), journalCall({ reserved: 40 })];
      for (const call of calls) await stores.calls.openCall(call);
      const [first, second] = calls.map((call) => rowOf(call));
      expect(first && (await stores.calls.closeCall(first, 55))).toEqual({ charged: 55 });
      expect(second && (await stores.calls.closeCall(second, 60))).toEqual({ charged: 45 });
      expect(await stores.credits.balance('a')).toEqual(balance({ revenue: 100, granted: -100 }));
    });

    test('releases everything if it costs nothing or is discarded; a discarded call leaves no row', async () => {
      const stores = await funded(100);
      const calls = [journalCall({ reserved: 40 }), journalCall({ reserved: 40 })] as const;
      for (const call of calls) await stores.calls.openCall(call);
      expect(await stores.calls.closeCall(rowOf(calls[0], 'failed'), 0)).toEqual({ charged: 0 });
      expect(await stores.calls.discardCall(calls[1].id, AT + 2)).toBe(true);
      expect(await stores.calls.discardCall(calls[1].id, AT + 3)).toBe(false);
      expect(await stores.calls.closeCall(rowOf(calls[1]), 7)).toBeUndefined();
      expect(await stores.credits.balance('a')).toEqual(balance({ available: 100, granted: -100 }));
      expect(await rows(stores)).toEqual([rowOf(calls[0], 'failed')]);
    });

    test('cannot be opened twice; the second attempt reserves nothing', async () => {
      const stores = await funded(100);
      const call = journalCall({ reserved: 10 });
      await stores.calls.openCall(call);
      await expect(stores.calls.openCall(call)).rejects.toThrow();
      expect(await stores.credits.balance('a')).toMatchObject({ available: 90, reserved: 10 });
    });
  });

  describe('bills of batch lines', () => {
    const bill = (call: JournalCall, cost: number): LineBill => ({
      record: rowOf(call),
      cost,
      hasReservation: call.reserved > 0,
    });

    test('become rows, charges and released credits in one transaction', async () => {
      const stores = await funded(100_000);
      await stores.credits.grant('b', 50, AT);
      // More rows than one SQL statement can insert.
      const calls = Array.from({ length: 1203 }, (_, line) =>
        journalCall({ reserved: (line % 3) * 20, repeated: true }),
      );
      const foreign = journalCall({ organization: 'b', reserved: 50, repeated: true });
      const reserving = [...calls, foreign].filter(({ reserved }) => reserved > 0);
      for (const call of reserving) await stores.calls.openCall(call);
      const bills = [...calls.map((call, line) => bill(call, line % 7)), bill(foreign, 20)];
      expect(await stores.storeBills(bills)).toBe(0);
      expect(await stores.calls.listOpenCalls('i1', 2000)).toEqual([]);
      const revenue = calls.reduce((sum, _, line) => sum + (line % 7), 0);
      expect(await stores.credits.balance('a')).toEqual(
        balance({ available: 100_000 - revenue, revenue, granted: -100_000 }),
      );
      expect(await stores.credits.balance('b')).toEqual(
        balance({ available: 30, revenue: 20, granted: -50 }),
      );
      const { records } = await stores.usage.list({ organization: 'a', limit: 2000 });
      expect(records).toEqual(calls.map((call) => rowOf(call)).reverse());
      expect(await days(stores)).toMatchObject([{ requests: 1203, failed: 0, charged: revenue }]);
      expect(await days(stores, 'b')).toMatchObject([{ requests: 1, charged: 20 }]);
      expect(await rows(stores, 'b')).toEqual([rowOf(foreign)]);
      const history = await stores.credits.history('a', { limit: 2 });
      expect(history).toMatchObject([
        { kind: 'settle', at: AT + 9, call: calls[1202]?.id },
        { kind: 'settle', at: AT + 9, call: calls[1201]?.id },
      ]);
      expect(history[0]?.entries).toEqual([
        { account: 'available', amount: 35 },
        { account: 'reserved', amount: -40 },
        { account: 'revenue', amount: 5 },
      ]);
    });

    test('without cost change no credits; an organization without credits is charged nothing', async () => {
      const stores = await funded(5);
      const [free, cheap, dear, penniless] = [
        ...[journalCall(), journalCall(), journalCall()],
        journalCall({ organization: 'b' }),
      ] as const;
      expect(await stores.storeBills([])).toBe(0);
      const bills = [bill(free, 0), bill(cheap, 2), bill(dear, 9), bill(penniless, 9)];
      expect(await stores.storeBills(bills)).toBe(15);
      expect(await rows(stores)).toHaveLength(3);
      expect(await stores.credits.balance('a')).toEqual(balance({ revenue: 5, granted: -5 }));
      expect(await days(stores)).toMatchObject([{ requests: 3, charged: 5 }]);
      expect(await days(stores, 'b')).toMatchObject([{ requests: 1, charged: 0 }]);
      expect(await stores.credits.history('a', { limit: 5 })).toHaveLength(3);
      expect(await stores.credits.history('b', { limit: 5 })).toEqual([]);
    });

    test('of a call that another process discarded are charged from the available credits', async () => {
      const stores = await funded(100);
      const call = journalCall({ reserved: 60, repeated: true });
      await stores.calls.openCall(call);
      await stores.calls.discardCall(call.id, AT);
      await stores.storeBills([bill(call, 25)]);
      expect(await stores.credits.balance('a')).toEqual(
        balance({ available: 75, revenue: 25, granted: -100 }),
      );
      expect(await rows(stores)).toEqual([rowOf(call)]);
    });

    test('change nothing if the rest of the transaction fails', async () => {
      const stores = await funded(100);
      const call = journalCall({ reserved: 60, repeated: true });
      await stores.calls.openCall(call);
      await expect(stores.storeBills([bill(call, 25)], new Error('of the batch'))).rejects.toThrow(
        'of the batch',
      );
      expect(await rows(stores)).toEqual([]);
      expect(await days(stores)).toEqual([]);
      expect(await stores.calls.listOpenCalls('i1', 5)).toEqual([call]);
      expect(await stores.credits.balance('a')).toMatchObject({ available: 40, reserved: 60 });
    });

    test('cannot be stored twice', async () => {
      const stores = await funded(100);
      const call = journalCall({ reserved: 60, repeated: true });
      await stores.calls.openCall(call);
      await stores.storeBills([bill(call, 25)]);
      await expect(stores.storeBills([bill(call, 25)])).rejects.toThrow();
      expect(await stores.credits.balance('a')).toMatchObject({ available: 75, revenue: 25 });
    });
  });

  test('closing a call changes nothing if its row cannot be written', async () => {
    const stores = await funded(100);
    const call = journalCall({ reserved: 10 });
    await stores.usage.insert(rowOf(call));
    await stores.calls.openCall(call);
    await expect(stores.calls.closeCall(rowOf(call), 10)).rejects.toThrow();
    expect(await stores.calls.listOpenCalls('i1', 5)).toEqual([call]);
    expect(await stores.credits.balance('a')).toMatchObject({ available: 90, reserved: 10 });
  });

  describe('concurrently', () => {
    test('200 calls never reserve more than is available', async () => {
      const stores = await funded(1000);
      const calls = Array.from({ length: 200 }, () => journalCall({ reserved: 30 }));
      const short = await Promise.all(calls.map((call) => stores.calls.openCall(call)));
      const opened = calls.filter((_, index) => short[index] === undefined);
      expect(opened).toHaveLength(33);
      for (const each of short) expect(each?.available ?? 0).toBeLessThan(30);
      expect(await stores.credits.balance('a')).toMatchObject({ available: 10, reserved: 990 });
      await Promise.all(opened.map((call, index) => stores.calls.closeCall(rowOf(call), index)));
      // 0 + 1 + … + 32.
      expect(await stores.credits.balance('a')).toEqual(
        balance({ available: 472, revenue: 528, granted: -1000 }),
      );
    });

    test('a call is closed once', async () => {
      const stores = await funded(100);
      const call = journalCall({ reserved: 50 });
      await stores.calls.openCall(call);
      const ends = await Promise.all([
        ...Array.from({ length: 5 }, () => stores.calls.closeCall(rowOf(call), 20)),
        ...Array.from({ length: 5 }, () => stores.calls.discardCall(call.id, AT)),
      ]);
      expect(ends.filter((end) => end !== undefined && end !== false)).toHaveLength(1);
      const { available, reserved, revenue } = await stores.credits.balance('a');
      expect([available + revenue, reserved]).toEqual([100, 0]);
      expect(await rows(stores)).toHaveLength(revenue === 0 ? 0 : 1);
    });
  });

  describe('history', () => {
    test('lists every transfer with its entries, newest first', async () => {
      const stores = await funded(100);
      const [settled, released, refused] = [
        journalCall({ reserved: 60 }),
        journalCall({ reserved: 40, openedAt: AT + 1 }),
        journalCall({ reserved: 40 }),
      ];
      for (const call of [settled, released, refused]) await stores.calls.openCall(call);
      await stores.calls.closeCall(rowOf(settled), 60);
      await stores.calls.discardCall(released.id, AT + 2);
      const history = await stores.credits.history('a', { limit: 10 });
      const transfer = (kind: string, at: number, amounts: Record<string, number>, call?: string) => ({
        sequence: expect.any(Number),
        kind,
        at,
        ...(call === undefined ? {} : { call }),
        entries: Object.entries(amounts).map(([account, amount]) => ({ account, amount })),
      });
      expect(history).toEqual([
        transfer('release', AT + 2, { available: 40, reserved: -40 }, released.id),
        transfer('settle', AT + 9, { reserved: -60, revenue: 60 }, settled.id),
        transfer('reserve', AT + 1, { available: -40, reserved: 40 }, released.id),
        transfer('reserve', AT, { available: -60, reserved: 60 }, settled.id),
        transfer('grant', AT, { available: 100, granted: -100 }),
      ]);
      const sequences = history.map(({ sequence }) => sequence);
      expect(sequences).toEqual(sequences.toSorted((a, b) => b - a));
      const page = await stores.credits.history('a', { limit: 2, before: sequences[1] });
      expect(page).toEqual(history.slice(2, 4));
      expect(await stores.credits.history('b', { limit: 2 })).toEqual([]);
    });
  });

  describe('processes', () => {
    const instance = (id: string, seenAt = AT) => ({ id, host: 'host', pid: 7, seenAt });

    test('are recorded, updated by heartbeats, and removed only without open calls', async () => {
      const { calls } = await open();
      await calls.recordHeartbeat(instance('i1'));
      await calls.recordHeartbeat(instance('i2'));
      await calls.recordHeartbeat(instance('i1', AT + 5));
      expect(await calls.listInstances()).toEqual(
        expect.arrayContaining([instance('i1', AT + 5), instance('i2')]),
      );
      expect(await calls.listInstances()).toHaveLength(2);
      const call = journalCall({ instance: 'i2' });
      await calls.openCall(call);
      expect(await calls.removeInstance('i2')).toBe(false);
      expect(await calls.removeInstance('i1')).toBe(true);
      expect(await calls.removeInstance('i1')).toBe(false);
      await calls.discardCall(call.id, AT);
      expect(await calls.removeInstance('i2')).toBe(true);
      expect(await calls.listInstances()).toEqual([]);
    });

    test('list their own open calls, oldest first', async () => {
      const { calls } = await open();
      const mine = Array.from({ length: 3 }, () => journalCall());
      for (const call of mine) await calls.openCall(call);
      await calls.openCall(journalCall({ instance: 'i2' }));
      expect(await calls.listOpenCalls('i1', 2)).toEqual(mine.slice(0, 2));
      expect(await calls.listOpenCalls('i1', 9)).toEqual(mine);
    });
  });
}
