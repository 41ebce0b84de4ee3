import type { Kysely } from 'kysely';
import type { Clock } from '../../contract/core/clock.ts';
import { invalidRequest } from '../../contract/core/error.ts';
import type { LexiconStore } from '../../contract/stores/lexicon-store.ts';
import { unixSeconds } from '../../kit/clock.ts';
import { lexiconKey } from '../../kit/validation/lexicon-entry.ts';
import type { Records } from '../schema/records.ts';
import type { Tables } from '../schema/tables.ts';

/** Pronunciation lexicons of organizations. The caller closes `records`. */
export function lexiconStore({ db, read }: Records, clock: Clock): LexiconStore {
  /** Also serializes the changes of an organization until the transaction ends. */
  async function incrementRevision(transaction: Kysely<Tables>, organization: string): Promise<void> {
    await transaction
      .insertInto('lexicon_revisions')
      .values({ organization, revision: 1 })
      .onConflict((conflict) =>
        conflict.column('organization').doUpdateSet(({ eb, ref }) => ({
          revision: eb(ref('lexicon_revisions.revision'), '+', 1),
        })),
      )
      .execute();
  }

  return {
    async revision(organization) {
      const query = db
        .selectFrom('lexicon_revisions')
        .select('revision')
        .where('organization', '=', organization);
      const [row] = await read(query.compile());
      return row?.revision ?? 0;
    },

    async list(organization) {
      const rows = await db
        .selectFrom('lexicon_entries')
        .selectAll()
        .where('organization', '=', organization)
        .execute();
      // The engines order text differently.
      return rows
        .toSorted((a, b) => compare(a.word_key, b.word_key) || compare(a.language, b.language))
        .map(({ word, language, phonemes, respelling, updated_at }) => ({
          word,
          language: language || undefined,
          phonemes: phonemes ?? undefined,
          respelling: respelling ?? undefined,
          updatedAt: updated_at,
        }));
    },

    put: (organization, entry, maxEntries) =>
      db.transaction().execute(async (transaction) => {
        await incrementRevision(transaction, organization);
        const key = { organization, word_key: lexiconKey(entry.word), language: entry.language ?? '' };
        const { others } = await transaction
          .selectFrom('lexicon_entries')
          .select(({ fn }) => fn.countAll<number>().as('others'))
          .where('organization', '=', organization)
          .where(({ not, and, eb }) =>
            not(and([eb('word_key', '=', key.word_key), eb('language', '=', key.language)])),
          )
          .executeTakeFirstOrThrow();
        if (others >= maxEntries) {
          throw invalidRequest(
            `The lexicon of your organization can have at most ${maxEntries} entries. Delete an entry that you no longer need.`,
            undefined,
            'storage_limit_exceeded',
          );
        }
        const updatedAt = unixSeconds(clock);
        const value = {
          word: entry.word,
          phonemes: entry.phonemes ?? null,
          respelling: entry.respelling ?? null,
          updated_at: updatedAt,
        };
        await transaction
          .insertInto('lexicon_entries')
          .values({ ...key, ...value })
          .onConflict((conflict) =>
            conflict.columns(['organization', 'word_key', 'language']).doUpdateSet(value),
          )
          .execute();
        return { ...entry, updatedAt };
      }),

    delete: (organization, { word, language }) =>
      db.transaction().execute(async (transaction) => {
        await incrementRevision(transaction, organization);
        const { numDeletedRows } = await transaction
          .deleteFrom('lexicon_entries')
          .where('organization', '=', organization)
          .where('word_key', '=', lexiconKey(word))
          .where('language', '=', language ?? '')
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
