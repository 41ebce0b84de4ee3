import { Type } from '@sinclair/typebox';
import { ServiceError } from '../../../src/contract/core/error.ts';
import type { Route } from '../../../src/contract/route.ts';
import type { Lexicons } from '../../../src/contract/stores/lexicon-store.ts';
import { jsonBody, jsonResponse, queryParameter } from '../../../src/http/openapi/route-docs.ts';
import { orNull } from '../../../src/http/openapi/schemas.ts';
import { route } from '../../../src/http/route.ts';
import { MAX_LEXICON_ENTRIES } from '../../../src/kit/validation/lexicon-entry.ts';
import { DocumentedBody, EntryObject, entryObject, parseEntry, parseEntryQuery } from './schema.ts';

export interface LexiconServices {
  readonly lexicons: Lexicons;
}

const PATH = '/v1/audio/lexicon';
const BUSY = 'The database is unavailable; retry after `retry-after` seconds';

/** GET, PUT and DELETE of /v1/audio/lexicon: how the organization of the caller wants words to be pronounced. */
export const LEXICON_ROUTES: readonly Route<LexiconServices>[] = [
  route({
    method: 'GET',
    path: PATH,
    tag: 'audio',
    summary: 'List the pronunciation lexicon',
    description: `All entries of your organization, at most ${MAX_LEXICON_ENTRIES}, ordered by word. Those of CONFIG, which hold for all organizations, are not listed.`,
    responses: {
      200: jsonResponse(
        'The entries',
        Type.Object(
          { object: Type.Literal('list'), data: Type.Array(EntryObject), has_more: Type.Literal(false) },
          { title: 'Lexicon' },
        ),
      ),
      503: BUSY,
    },
    async handle({ caller }, { lexicons }: LexiconServices) {
      const entries = await lexicons.list(caller.organization);
      return { object: 'list', data: entries.map(entryObject), has_more: false };
    },
  }),
  route({
    method: 'PUT',
    path: PATH,
    tag: 'audio',
    summary: 'Set how a word is pronounced',
    description:
      'Adds an entry, or replaces the entry with the same word and language. It is used by all speech of your organization that starts afterwards, in other processes of the service within two seconds.',
    body: { json: { schema: jsonBody(DocumentedBody) }, read: parseEntry },
    responses: {
      200: jsonResponse('The entry', EntryObject),
      400: 'A field is missing or invalid; `param` is its name. `storage_limit_exceeded`: the lexicon is full',
      415: 'The body is not JSON',
      503: BUSY,
    },
    handle: async ({ caller, body }, { lexicons }: LexiconServices) =>
      entryObject(await lexicons.put(caller.organization, body, MAX_LEXICON_ENTRIES)),
  }),
  route({
    method: 'DELETE',
    path: PATH,
    tag: 'audio',
    summary: 'Delete an entry of the lexicon',
    description: 'The word is read as written by all speech that starts afterwards.',
    query: {
      parameters: [
        { ...queryParameter('word', { type: 'string' }, 'The word of the entry.'), required: true },
        queryParameter('language', { type: 'string' }, 'The language of the entry; absent if it has none.'),
      ],
      read: parseEntryQuery,
    },
    responses: {
      200: jsonResponse(
        'The entry is deleted',
        Type.Object({
          object: Type.Literal('audio.lexicon.entry.deleted'),
          word: Type.String({ examples: ['Nguyen'] }),
          language: orNull(Type.String({ examples: ['en'] })),
          deleted: Type.Literal(true),
        }),
      ),
      400: 'A parameter is missing or invalid; `param` is its name',
      404: 'Your organization has no such entry',
      503: BUSY,
    },
    async handle({ caller, query: key }, { lexicons }: LexiconServices) {
      if (!(await lexicons.delete(caller.organization, key))) {
        throw new ServiceError(
          'not_found',
          'The lexicon of your organization has no entry with this word and language.',
          { param: 'word' },
        );
      }
      const { word, language = null } = key;
      return { object: 'audio.lexicon.entry.deleted', word, language, deleted: true };
    },
  }),
];
