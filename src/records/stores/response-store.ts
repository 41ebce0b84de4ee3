import { sql } from 'kysely';
import { invalidRequest } from '../../contract/core/error.ts';
import type { Id } from '../../contract/core/id.ts';
import {
  type ResponseStore,
  rejectDuplicateItems,
  type StoredItem,
  type StoredResponse,
} from '../../contract/stores/response-store.ts';
import { chunks } from '../lib/chunks.ts';
import type { Records } from '../schema/records.ts';

/** Maximum number of responses in a chain, and maximum length of their JSON, since a chain is read into memory completely. */
const MAX_CHAIN_LINKS = 1000;
const MAX_CHAIN_CHARACTERS = 16_000_000;
/** Rows and ids per statement; engines limit the number of values (PostgreSQL 65,535, SQLite 32,766). */
const ITEMS_PER_STATEMENT = 5000;
const IDS_PER_STATEMENT = 5000;

/** Maximum number of characters of a caller's id in an error message. */
const MAX_SHOWN_CHARACTERS = 100;

interface Link {
  readonly id: Id<'resp_'>;
  readonly previous_id: string | null;
  readonly characters: number;
}

/** Stored responses with their items. The caller closes `records`. */
export function responseStore({ db }: Records): ResponseStore {
  const ofOrganization = (organization: string, id: string) =>
    db
      .selectFrom('responses')
      .where('organization', '=', organization)
      .where('responses.id', '=', id as Id<'resp_'>);

  /** The response and its predecessors, newest first; at most one more than a chain can have. */
  async function linksOf(organization: string, id: string): Promise<readonly Link[]> {
    const { rows } = await sql<Link>`
      WITH RECURSIVE links (depth, id, previous_id, characters) AS (
        SELECT 1, id, previous_id, body_characters + input_characters FROM responses
        WHERE organization = ${organization} AND id = ${id}
        UNION ALL
        SELECT depth + 1, before.id, before.previous_id, before.body_characters + before.input_characters
        FROM links JOIN responses AS before ON before.id = links.previous_id
        WHERE before.organization = ${organization} AND depth <= ${sql.lit(MAX_CHAIN_LINKS)}
      )
      SELECT id, previous_id, characters FROM links ORDER BY depth`.execute(db);
    return rows;
  }

  return {
    async put(organization, response, input) {
      const items = input.map((item) => JSON.stringify(item));
      rejectDuplicateItems(input);
      const body = JSON.stringify(response);
      const rows = input.map(({ id }, position) => ({
        response_id: response.id,
        position,
        id,
        item: items[position] ?? '',
      }));
      await db.transaction().execute(async (transaction) => {
        await transaction
          .insertInto('responses')
          .values({
            id: response.id,
            organization,
            created_at: response.created_at,
            status: response.status,
            previous_id: response.previous_response_id,
            body_characters: body.length,
            input_characters: items.reduce((sum, item) => sum + item.length, 0),
            body,
            seen_at: response.created_at,
          })
          .execute();
        for (const chunk of chunks(rows, ITEMS_PER_STATEMENT)) {
          await transaction.insertInto('response_items').values(chunk).execute();
        }
      });
    },

    async update(organization, response) {
      const body = JSON.stringify(response);
      const { numUpdatedRows } = await db
        .updateTable('responses')
        .set({ status: response.status, body_characters: body.length, body })
        .where('organization', '=', organization)
        .where('id', '=', response.id)
        .where('status', '=', 'in_progress')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async get(organization, id) {
      const row = await ofOrganization(organization, id).select('body').executeTakeFirst();
      return row && parseResponse(row.body);
    },

    async delete(organization, id) {
      const { numDeletedRows } = await db
        .deleteFrom('responses')
        .where('organization', '=', organization)
        .where('id', '=', id as Id<'resp_'>)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async inputItems(organization, id, { limit, order, after }) {
      const response = await ofOrganization(organization, id).select('id').executeTakeFirst();
      if (response === undefined) return undefined;
      let page = db.selectFrom('response_items').where('response_id', '=', response.id);
      if (after !== undefined) {
        const last = await page.select('position').where('id', '=', after).executeTakeFirst();
        if (last === undefined) {
          throw invalidRequest(
            "'after' must be the id of an input item of this response.",
            'after',
            'invalid_value',
          );
        }
        page = page.where('position', order === 'asc' ? '>' : '<', last.position);
      }
      const rows = await page
        .select('item')
        .orderBy('position', order)
        .limit(limit + 1)
        .execute();
      return { items: rows.slice(0, limit).map(({ item }) => parseItem(item)), hasMore: rows.length > limit };
    },

    async item(organization, id, itemId) {
      const input = await ofOrganization(organization, id)
        .innerJoin('response_items', 'response_items.response_id', 'responses.id')
        .select('item')
        .where('response_items.id', '=', itemId)
        .orderBy('position')
        .executeTakeFirst();
      if (input !== undefined) return parseItem(input.item);
      const response = await ofOrganization(organization, id).select('body').executeTakeFirst();
      return response && parseResponse(response.body).output.find((output) => output.id === itemId);
    },

    async chain(organization, id) {
      const links = await linksOf(organization, id);
      assertChainLength(links);
      const ids = links.map((link) => link.id);
      const [bodies, items] =
        ids.length === 0
          ? [[], []]
          : await Promise.all([
              db.selectFrom('responses').select(['id', 'body']).where('id', 'in', ids).execute(),
              db
                .selectFrom('response_items')
                .select(['response_id', 'item'])
                .where('response_id', 'in', ids)
                .orderBy('position')
                .execute(),
            ]);
      const outputs = new Map(bodies.map((row) => [row.id, parseResponse(row.body).output]));
      // The oldest link refers to a deleted predecessor, or a link was deleted between the queries.
      const lost = links.find((link) => !outputs.has(link.id))?.id ?? links.at(-1)?.previous_id;
      if (links.length === 0 || lost === id) {
        throw notFound(`Previous response with id '${id.slice(0, MAX_SHOWN_CHARACTERS)}' not found.`);
      }
      if (lost) {
        throw notFound(
          `Response '${id}' cannot be continued, because its predecessor '${lost}' was deleted.`,
        );
      }
      const inputs = Map.groupBy(items, (row) => row.response_id);
      return ids
        .toReversed()
        .flatMap((link) => [
          ...(inputs.get(link) ?? []).map((row) => parseItem(row.item)),
          ...(outputs.get(link) ?? []),
        ]);
    },

    async recordHeartbeat(ids, at) {
      for (const chunk of chunks(ids, IDS_PER_STATEMENT)) {
        await db
          .updateTable('responses')
          .set({ seen_at: at })
          .where('id', 'in', chunk)
          .where('status', '=', sql.lit('in_progress'))
          .execute();
      }
    },

    async listStale(before, limit) {
      const rows = await db
        .selectFrom('responses')
        .select(['organization', 'body'])
        .where('status', '=', sql.lit('in_progress'))
        .where('seen_at', '<', before)
        .orderBy('seen_at')
        .limit(limit)
        .execute();
      return rows.map(({ organization, body }) => ({ organization, response: parseResponse(body) }));
    },
  };
}

function assertChainLength(links: readonly Link[]): void {
  const characters = links.reduce((sum, link) => sum + link.characters, 0);
  if (links.length <= MAX_CHAIN_LINKS && characters <= MAX_CHAIN_CHARACTERS) return;
  throw invalidRequest(
    `The conversation of this response is too long to be continued: at most ${MAX_CHAIN_LINKS} responses and ${MAX_CHAIN_CHARACTERS} characters of JSON are allowed.`,
    'previous_response_id',
    'context_length_exceeded',
  );
}

function notFound(message: string) {
  return invalidRequest(message, 'previous_response_id', 'previous_response_not_found');
}

function parseResponse(json: string): StoredResponse {
  return JSON.parse(json);
}

function parseItem(json: string): StoredItem {
  return JSON.parse(json);
}
