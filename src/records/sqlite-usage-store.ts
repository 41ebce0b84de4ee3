import type { Database } from 'bun:sqlite';
import { invalidRequest } from '../contract/error.ts';
import type { Id } from '../contract/id.ts';
import type { EndpointLabel, UsageRecord, UsageStatus, UsageStore } from '../contract/usage.ts';
import { whenFree } from './when-free.ts';

/** A type, not an interface: the binding wants an index signature. */
type Row = {
  id: Id<'usage'>;
  created_at: number;
  organization: string;
  endpoint: EndpointLabel;
  model: string;
  status: UsageStatus;
  input_tokens: number;
  output_tokens: number;
  characters: number | null;
  audio_bytes: number | null;
  audio_seconds: number | null;
  transcript: string | null;
  request_id: Id<'request'>;
};

/** Usage rows in SQLite. The database belongs to the caller. */
export function sqliteUsageStore(database: Database): UsageStore {
  const insert = database.query<null, Row>(
    `INSERT INTO usage (id, created_at, organization, endpoint, model, status, input_tokens, output_tokens,
       characters, audio_bytes, audio_seconds, transcript, request_id)
     VALUES ($id, $created_at, $organization, $endpoint, $model, $status, $input_tokens, $output_tokens,
       $characters, $audio_bytes, $audio_seconds, $transcript, $request_id)`,
  );
  const sequenceOf = database.query<{ sequence: number }, { id: string; organization: string }>(
    'SELECT sequence FROM usage WHERE id = $id AND organization = $organization',
  );
  const page = database.query<Row, { organization: string; before: number; count: number }>(
    `SELECT * FROM usage WHERE organization = $organization AND sequence < $before
     ORDER BY sequence DESC LIMIT $count`,
  );
  const pageOfEndpoint = database.query<
    Row,
    { organization: string; before: number; count: number; endpoint: string }
  >(
    `SELECT * FROM usage WHERE organization = $organization AND endpoint = $endpoint AND sequence < $before
     ORDER BY sequence DESC LIMIT $count`,
  );

  return {
    async insert(record) {
      const row = toRow(record);
      await whenFree(() => insert.run(row));
    },

    async list({ organization, limit, after, endpoint }) {
      let before = Number.MAX_SAFE_INTEGER;
      if (after !== undefined) {
        const found = sequenceOf.get({ id: after, organization });
        if (found === null) {
          throw invalidRequest("'after' must be the id of one of your usage rows.", 'after', 'invalid_value');
        }
        before = found.sequence;
      }
      // One row more than asked for tells whether there is another page.
      const bounds = { organization, before, count: limit + 1 };
      const rows = endpoint === undefined ? page.all(bounds) : pageOfEndpoint.all({ ...bounds, endpoint });
      return { records: rows.slice(0, limit).map(toRecord), hasMore: rows.length > limit };
    },
  };
}

function toRow(record: UsageRecord): Row {
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

function toRecord(row: Row): UsageRecord {
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
