import type { UsageReader, UsageRecord } from '../../src/contract/accounts/usage.ts';
import { addToDays } from '../../src/records/accounts/usage-days.ts';
import { toRow, usageStore } from '../../src/records/accounts/usage-store.ts';
import type { Records } from '../../src/records/schema/records.ts';

/** Usage records that tests can insert without a call. */
export interface UsageRows extends UsageReader {
  insert(record: UsageRecord): Promise<void>;
}

/** Usage records of a database. The caller closes `records`. */
export function usageRows(records: Records): UsageRows {
  return {
    ...usageStore(records),
    async insert(record) {
      await records.db.transaction().execute(async (transaction) => {
        await transaction.insertInto('usage').values(toRow(record)).execute();
        await addToDays(transaction, [{ record, charged: 0 }]);
      });
    },
  };
}
