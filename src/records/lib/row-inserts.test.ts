import { expect, it, onTestFinished } from 'vitest';
import { usageRecord } from '../../../test/contract/usage-store.cases.ts';
import { memoryRecords } from '../../../tools/harness/doubles/memory-records.ts';
import { toRow, usageStore } from '../accounts/usage-store.ts';
import { RowInserts } from './row-inserts.ts';

it('inserts any number of rows in order, repeatedly', async () => {
  const records = memoryRecords();
  onTestFinished(() => records.close());
  const usage = new RowInserts('usage');
  const all = [0, 3, 200, 3, 200].map((count) => Array.from({ length: count }, () => usageRecord()));
  for (const chunk of all) {
    await records.db.transaction().execute((transaction) => usage.insert(transaction, chunk.map(toRow)));
  }
  const { records: stored } = await usageStore(records).list({ organization: 'a', limit: 1000 });
  expect(stored.toReversed()).toEqual(all.flat());
});
