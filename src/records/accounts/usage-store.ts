import type { Insertable, Selectable } from 'kysely';
import type { UsageReader, UsageRecord } from '../../contract/accounts/usage.ts';
import { invalidRequest } from '../../contract/core/error.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';
import { readDays } from './usage-days.ts';

type Usage = Tables['usage'];

/** Reads usage rows, which call-journal.ts stores. The caller closes `records`. */
export function usageStore({ db }: Records): UsageReader {
  return {
    async list({ organization, limit, after, endpoint }) {
      let page = db.selectFrom('usage').selectAll().where('organization', '=', organization);
      if (endpoint !== undefined) page = page.where('endpoint', '=', endpoint as Usage['endpoint']);
      if (after !== undefined) {
        const found = await db
          .selectFrom('usage')
          .select('sequence')
          .where('id', '=', after as Usage['id'])
          .where('organization', '=', organization)
          .executeTakeFirst();
        if (found === undefined) {
          throw invalidRequest("'after' must be the id of one of your usage rows.", 'after', 'invalid_value');
        }
        page = page.where('sequence', '<', found.sequence);
      }
      // One row more than the limit shows whether there is another page.
      const rows = await page
        .orderBy('sequence', 'desc')
        .limit(limit + 1)
        .execute();
      return { records: rows.slice(0, limit).map(toRecord), hasMore: rows.length > limit };
    },

    days: (query) => readDays(db, query),
  };
}

/** Converts a record to a row, for every store that writes usage rows. */
export function toRow(record: UsageRecord): Insertable<Usage> {
  return {
    id: record.id,
    created_at: record.createdAt,
    organization: record.organization,
    endpoint: record.endpoint,
    model: record.model,
    status: record.status,
    input_tokens: record.inputTokens,
    output_tokens: record.outputTokens,
    characters: record.characters ?? null,
    audio_bytes: record.audioBytes ?? null,
    audio_seconds: record.audioSeconds ?? null,
    transcript: record.transcript ?? null,
    request_id: record.requestId,
  };
}

function toRecord(row: Selectable<Usage>): UsageRecord {
  return {
    id: row.id,
    createdAt: row.created_at,
    organization: row.organization,
    endpoint: row.endpoint,
    model: row.model,
    status: row.status,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    ...(row.characters === null ? {} : { characters: row.characters }),
    ...(row.audio_bytes === null ? {} : { audioBytes: row.audio_bytes }),
    ...(row.audio_seconds === null ? {} : { audioSeconds: row.audio_seconds }),
    ...(row.transcript === null ? {} : { transcript: row.transcript }),
    requestId: row.request_id,
  };
}
