import fc from 'fast-check';
import type { KyselyPlugin } from 'kysely';
import { expect, it } from 'vitest';
import { repetitions } from '../../test/harness/tier.ts';
import { sharedAccounts, speechCall } from '../../tools/harness/doubles/usage-parts.ts';
import { CREDIT_ACCOUNTS } from '../contract/accounts/accounts-store.ts';
import type { OpenCall } from '../contract/accounts/calls.ts';
import type { Id } from '../contract/core/id.ts';

/** Simulates the crash of a process between any two statements. */
class Life implements KyselyPlugin {
  /** Remaining statements before the crash. */
  left = Number.POSITIVE_INFINITY;

  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => {
    if (this.left <= 0) throw new Error('the process is dead');
    this.left -= 1;
    return node;
  };

  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => result;
}

interface Known {
  readonly call: OpenCall;
  readonly requestId: Id<'req_'>;
  readonly owner: number;
  /** `unknown` if the process crashed while closing it. */
  end: 'open' | 'closed' | 'discarded' | 'unknown';
}

const grant = fc.record({ what: fc.constant('grant' as const), amount: fc.integer({ min: 20, max: 200 }) });
const open = fc.record({
  what: fc.constant('open' as const),
  most: fc.nat({ max: 30 }),
  free: fc.boolean(),
});
const end = fc.record({
  what: fc.constantFrom('close' as const, 'discard' as const),
  at: fc.nat(),
  used: fc.nat({ max: 60 }),
});
const die = fc.record({ what: fc.constant('die' as const), after: fc.nat({ max: 5 }) });
const action = fc.oneof(
  grant,
  { arbitrary: open, weight: 3 },
  { arbitrary: end, weight: 3 },
  { arbitrary: die, weight: 2 },
);

it('credits are conserved and every call has one row after a crash between any two statements', async () => {
  const died = { inEnd: 0, inOpen: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
      const shared = sharedAccounts();
      const start = async () => {
        const life = new Life();
        const db = shared.records.db.withPlugin(life);
        const { accounts, watch, self } = shared.process({ over: { ...shared.records, db } });
        await watch.beat();
        return { accounts, watch, self, life };
      };
      let process = await start();
      const isDead = () => process.life.left <= 0;
      const known: Known[] = [];
      const unsure = new Set<string>();
      let granted = 0;

      const reborn = async () => {
        shared.running.delete(process.self.pid);
        process = await start();
      };
      const settled = async () => {
        const sums = await sumsOf(shared);
        expect(CREDIT_ACCOUNTS.reduce((sum, account) => sum + sums[account], 0)).toBe(0);
        expect(sums).toEqual(await shared.credits.balance('a'));
        expect(sums.granted).toBe(granted === 0 ? 0 : -granted);
        expect(Math.min(sums.available, sums.reserved, sums.revenue)).toBeGreaterThanOrEqual(0);
        const held = await shared.records.db.selectFrom('open_calls').select('reserved').execute();
        expect(sums.reserved).toBe(held.reduce((sum, { reserved }) => sum + reserved, 0));
      };

      for (const each of actions) {
        if (each.what === 'grant') {
          await shared.credits.grant('a', each.amount, 0);
          granted += each.amount;
        }
        if (each.what === 'die') process.life.left = each.after;
        if (each.what === 'open') {
          const opening = speechCall(each.most, each.free ? { model: 'free' } : {});
          const call = await process.accounts.openCall(opening).catch(() => undefined);
          const { requestId } = opening.caller;
          if (call !== undefined) known.push({ call, requestId, owner: process.self.pid, end: 'open' });
          else if (isDead()) {
            unsure.add(requestId);
            died.inOpen += 1;
          }
        }
        if (each.what === 'close' || each.what === 'discard') {
          const own = known.filter(({ owner, end }) => owner === process.self.pid && end === 'open');
          const one = own[each.at % Math.max(1, own.length)];
          if (one !== undefined) {
            const { used: characters } = each;
            const end = { status: 'completed', inputTokens: 1, outputTokens: 1, characters } as const;
            await (each.what === 'close' ? one.call.close(end) : one.call.discard());
            one.end = isDead() ? 'unknown' : each.what === 'close' ? 'closed' : 'discarded';
            if (isDead()) died.inEnd += 1;
          }
        }
        if (isDead()) await reborn();
        await settled();
      }
      await reborn();
      await settled();
      expect(await shared.credits.balance('a')).toMatchObject({ reserved: 0 });

      const rows = Map.groupBy(await shared.rows(), ({ requestId }) => requestId);
      for (const { requestId, end } of known) {
        const statuses = (rows.get(requestId) ?? []).map(({ status }) => status);
        rows.delete(requestId);
        if (end === 'closed') expect(statuses).toEqual(['completed']);
        else if (end === 'discarded') expect(statuses).toEqual([]);
        else if (end === 'open') expect(statuses).toEqual(['failed']);
        else expect(statuses.length).toBeLessThanOrEqual(1);
      }
      for (const [requestId, more] of rows) {
        expect(unsure).toContain(requestId);
        expect(more).toHaveLength(1);
      }
      await shared.close();
    }),
    { numRuns: repetitions(50, 150) },
  );
  // Otherwise the test would prove nothing about them.
  expect(Math.min(died.inEnd, died.inOpen)).toBeGreaterThan(3);
});

/** Sums of the entries of `a`, by account. */
async function sumsOf({ records: { db } }: ReturnType<typeof sharedAccounts>) {
  const rows = await db
    .selectFrom('credit_entries')
    .innerJoin('credit_transfers', 'credit_transfers.sequence', 'credit_entries.transfer')
    .select(['account', ({ fn }) => fn.sum<number>('amount').as('sum')])
    .where('organization', '=', 'a')
    .groupBy('account')
    .execute();
  const sum = (wanted: string) => rows.find(({ account }) => account === wanted)?.sum ?? 0;
  return {
    available: sum('available'),
    reserved: sum('reserved'),
    revenue: sum('revenue'),
    granted: sum('granted'),
  };
}
