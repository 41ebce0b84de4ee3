import type { Insertable, Kysely } from 'kysely';
import type { MicroCredits } from '../../contract/accounts/accounts-store.ts';
import type { UsageDay, UsageRecord } from '../../contract/accounts/usage.ts';
import { chunks } from '../lib/chunks.ts';
import type { Tables } from '../schema/tables.ts';

type Day = Tables['usage_days'];
type DayRow = Insertable<Day>;

/** Usage of a call and the credits that were charged for it. */
export interface ChargedUsage {
  readonly record: UsageRecord;
  readonly charged: MicroCredits;
}

export const DAY_S = 86_400;

/** Rows per statement. */
const ROWS_PER_STATEMENT = 64;

const SUMS = [
  'requests',
  'failed',
  'input_tokens',
  'output_tokens',
  'characters',
  'audio_seconds',
  'charged',
] as const satisfies readonly (keyof Day)[];

/**
 * Adds usage rows to the daily totals, so that totals can be read without reading all rows. Call it as the last step of the
 * transaction that stores the rows: a transaction that has locked daily totals must not wait for other locks.
 */
export async function addToDays(transaction: Kysely<Tables>, used: readonly ChargedUsage[]): Promise<void> {
  const rows = new Map<string, DayRow>();
  for (const each of used) {
    const row = toDay(each);
    const key = keyOf(row);
    const sums = rows.get(key);
    if (sums === undefined) rows.set(key, row);
    else for (const name of SUMS) sums[name] += row[name];
  }
  // Transactions lock the rows in the same order, so that they cannot deadlock.
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  for (const chunk of chunks(sorted, ROWS_PER_STATEMENT)) {
    await transaction
      .insertInto('usage_days')
      .values(chunk)
      .onConflict((conflict) =>
        conflict
          .columns(['organization', 'day', 'endpoint', 'model'])
          .doUpdateSet(({ eb, ref }) =>
            Object.fromEntries(
              SUMS.map((name) => [name, eb(ref(`usage_days.${name}`), '+', ref(`excluded.${name}`))]),
            ),
          ),
      )
      .execute();
  }
}

/** The daily totals of an organization, in ascending order. @param query first and last day, inclusive. */
export async function readDays(
  db: Kysely<Tables>,
  query: { organization: string; from: number; to: number },
): Promise<readonly UsageDay[]> {
  const rows = await db
    .selectFrom('usage_days')
    .selectAll()
    .where('organization', '=', query.organization)
    .where('day', '>=', query.from)
    .where('day', '<=', query.to)
    .orderBy('day')
    .orderBy('endpoint')
    .orderBy('model')
    .execute();
  return rows.map((row) => ({
    day: row.day,
    endpoint: row.endpoint,
    model: row.model,
    requests: row.requests,
    failed: row.failed,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    characters: row.characters,
    audioSeconds: row.audio_seconds,
    charged: row.charged,
  }));
}

function toDay({ record, charged }: ChargedUsage): DayRow {
  return {
    organization: record.organization,
    day: Math.floor(record.createdAt / DAY_S),
    endpoint: record.endpoint,
    model: record.model,
    requests: 1,
    failed: record.status === 'failed' ? 1 : 0,
    input_tokens: record.inputTokens,
    output_tokens: record.outputTokens,
    characters: record.characters ?? 0,
    audio_seconds: record.audioSeconds ?? 0,
    charged,
  };
}

function keyOf({ organization, day, endpoint, model }: DayRow): string {
  return JSON.stringify([organization, day, endpoint, model]);
}
