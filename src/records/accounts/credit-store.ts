import {
  CREDIT_ACCOUNTS,
  type CreditStore,
  type CreditTransfer,
  MAX_GRANTED,
} from '../../contract/accounts/accounts-store.ts';
import { invalidRequest } from '../../contract/core/error.ts';
import type { Records } from '../schema/records.ts';
import { CreditLedger, NO_CREDITS } from './credit-ledger.ts';
import { ensureOrganizations } from './organization-store.ts';

/** Credits of organizations. The caller closes `records`. */
export function creditStore({ db, engine }: Records): CreditStore {
  return {
    grant: (organization, amount, at) =>
      db.transaction().execute(async (transaction) => {
        await ensureOrganizations(transaction, [organization], at);
        await transaction
          .insertInto('credit_accounts')
          .values({ organization, ...NO_CREDITS })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        const ledger = await CreditLedger.lock(engine, transaction, organization);
        if (ledger === undefined) throw new Error('the accounts that were just created are missing');
        if (amount - ledger.balance.granted > MAX_GRANTED) {
          throw invalidRequest(
            `An organization can be granted at most ${MAX_GRANTED / 1_000_000} credits in total; this grant exceeds the limit.`,
            'amount',
            'invalid_value',
          );
        }
        await ledger.transfer('grant', at, { available: amount, granted: -amount });
        return ledger.balance;
      }),

    async balance(organization) {
      const row = await db
        .selectFrom('credit_accounts')
        .select(CREDIT_ACCOUNTS)
        .where('organization', '=', organization)
        .executeTakeFirst();
      return row ?? NO_CREDITS;
    },

    async history(organization, { limit, before }) {
      let page = db.selectFrom('credit_transfers').selectAll().where('organization', '=', organization);
      if (before !== undefined) page = page.where('sequence', '<', before);
      const transfers = await page.orderBy('sequence', 'desc').limit(limit).execute();
      if (transfers.length === 0) return [];
      const sequences = transfers.map(({ sequence }) => sequence);
      const rows = await db
        .selectFrom('credit_entries')
        .selectAll()
        .where('transfer', 'in', sequences)
        .execute();
      const entries = Map.groupBy(rows, ({ transfer }) => transfer);
      return transfers.map(
        ({ sequence, kind, at, call_id }): CreditTransfer => ({
          sequence,
          kind,
          at,
          ...(call_id === null ? {} : { call: call_id }),
          entries: (entries.get(sequence) ?? [])
            .map(({ account, amount }) => ({ account, amount }))
            .sort((a, b) => CREDIT_ACCOUNTS.indexOf(a.account) - CREDIT_ACCOUNTS.indexOf(b.account)),
        }),
      );
    },
  };
}
