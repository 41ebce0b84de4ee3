import type { Insertable, Kysely } from 'kysely';
import type { MicroCredits } from '../../contract/accounts/accounts-store.ts';
import type { UsageDay, UsageRecord } from '../../contract/accounts/usage.ts';
import { chunks } from '../lib/chunks.ts';
import type { Tables } from '../schema/tables.ts';

type Day = Tables['usage_days'];
type DayRow = Insertable<Day>;

/** What a call used and what was charged for it. */
export interface ChargedUsage {
  readonly record: UsageRecord;
  readonly charged: MicroCredits;
}

export const DAY_S = 86_400;

/** Rows of one statement. */
const MAX_CONCURRENT = 64;

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
 * Adds usage rows to the sums of their days, so that nobody has to read all rows to know them. Inside the transaction
 * that writes the rows, as its last step: whoever holds a day waits for nothing else.
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
  // In the same order everywhere, so that two transactions never wait for each other.
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  for (const some of chunks(sorted, MAX_CONCURRENT)) {
    await transaction
      .insertInto('usage_days')
      .values(some)
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

/** The sums of one organization's days, in order. */
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
