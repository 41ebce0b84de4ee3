import type { Insertable, Kysely, Selectable } from 'kysely';
import { invalidRequest } from '../../contract/core/error.ts';
import type { VoiceRecord, VoiceStore } from '../../contract/stores/voice-store.ts';
import { lockOrganization } from '../accounts/organization-lock.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';

type Voice = Tables['voices'];

/** Stored voices of organizations. The caller closes `records`. */
export function voiceStore({ db, engine }: Records): VoiceStore {
  const ofOrganization = (organization: string, query: Kysely<Tables> = db) =>
    query.selectFrom('voices').where('organization', '=', organization);

  const withId = (organization: string, id: string) =>
    ofOrganization(organization).where('id', '=', id as Voice['id']);

  /** @throws ServiceError `voice_limit_exceeded` if the organization has reached its maximum number of voices. */
  async function checkVoiceQuota(
    query: Kysely<Tables>,
    organization: string,
    maxVoices: number,
  ): Promise<void> {
    const { stored } = await ofOrganization(organization, query)
      .select(({ fn }) => fn.countAll<number>().as('stored'))
      .executeTakeFirstOrThrow();
    if (stored < maxVoices) return;
    throw invalidRequest(
      `Your organization has ${stored} of at most ${maxVoices} stored voices. Delete a voice that you no longer need.`,
      undefined,
      'voice_limit_exceeded',
    );
  }

  return {
    put: (voice, maxVoices) =>
      db.transaction().execute(async (transaction) => {
        await lockOrganization(engine, transaction, voice.organization, 'voices');
        await checkVoiceQuota(transaction, voice.organization, maxVoices);
        await transaction.insertInto('voices').values(toRow(voice)).execute();
      }),

    requireCapacity: (organization, maxVoices) => checkVoiceQuota(db, organization, maxVoices),

    async get(organization, id) {
      const row = await withId(organization, id).selectAll().executeTakeFirst();
      return row && toRecord(row);
    },

    async list({ organization, limit, order, after }) {
      let found = ofOrganization(organization).selectAll();
      if (after !== undefined) {
        const last = await withId(organization, after).select('sequence').executeTakeFirst();
        if (last === undefined) {
          throw invalidRequest("'after' must be the id of one of your voices.", 'after', 'invalid_value');
        }
        found = found.where('sequence', order === 'asc' ? '>' : '<', last.sequence);
      }
      // One row more than the limit shows whether there is another page.
      const rows = await found
        .orderBy('sequence', order)
        .limit(limit + 1)
        .execute();
      return { voices: rows.slice(0, limit).map(toRecord), hasMore: rows.length > limit };
    },

    async delete(organization, id) {
      const { numDeletedRows } = await db
        .deleteFrom('voices')
        .where('organization', '=', organization)
        .where('id', '=', id as Voice['id'])
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async find(id) {
      const row = await db.selectFrom('voices').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toRecord(row);
    },

    async setAdaptation(id, adaptation) {
      const { numUpdatedRows } = await db
        .updateTable('voices')
        .set({ adaptation: adaptation ?? null, is_improving: 0 })
        .where('id', '=', id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async listAdaptations(limit, after) {
      // Ordered by id, so that paging works even if the last voice of a page was deleted.
      const first = db.selectFrom('voices').orderBy('id').limit(limit);
      const page = after === undefined ? first : first.where('id', '>', after);
      const rows = await page.select(['id', 'adaptation']).execute();
      return rows.map(({ id, adaptation }) => ({ id, adaptation: adaptation ?? undefined }));
    },

    async filterExisting(ids) {
      if (ids.length === 0) return new Set();
      const rows = await db.selectFrom('voices').select('id').where('id', 'in', ids).execute();
      return new Set(rows.map(({ id }) => id));
    },
  };
}

function toRow(voice: VoiceRecord): Insertable<Voice> {
  return {
    id: voice.id,
    organization: voice.organization,
    key_id: voice.keyId,
    name: voice.name,
    consent: voice.consent,
    ref_text: voice.refText,
    speaker_description: voice.speakerDescription ?? null,
    format: voice.format,
    duration_s: voice.durationS,
    sample_rate_hz: voice.sampleRateHz,
    length_bytes: voice.lengthBytes,
    created_at: voice.createdAt,
    adaptation: voice.adaptation ?? null,
    is_improving: 0,
  };
}

function toRecord(row: Selectable<Voice>): VoiceRecord {
  return {
    id: row.id,
    organization: row.organization,
    keyId: row.key_id,
    name: row.name,
    consent: row.consent,
    refText: row.ref_text,
    speakerDescription: row.speaker_description ?? undefined,
    format: row.format,
    durationS: row.duration_s,
    sampleRateHz: row.sample_rate_hz,
    lengthBytes: row.length_bytes,
    createdAt: row.created_at,
    adaptation: row.adaptation ?? undefined,
  };
}
