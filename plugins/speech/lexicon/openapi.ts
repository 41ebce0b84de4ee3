/** OpenAPI documentation of /v1/audio/lexicon. */

import { Type } from '@sinclair/typebox';
import {
  errorResponse,
  jsonBody,
  jsonResponse,
  queryParameter,
} from '../../../src/http/openapi/route-docs.ts';
import { orNull } from '../../../src/http/openapi/schemas.ts';
import { MAX_LEXICON_ENTRIES } from '../../../src/kit/validation/lexicon-entry.ts';
import { DocumentedBody, EntryObject } from './schema.ts';

const BUSY = errorResponse('The database is unavailable; retry after `retry-after` seconds');

export const LIST = {
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
};

export const PUT = {
  summary: 'Set how a word is pronounced',
  description:
    'Adds an entry, or replaces the entry with the same word and language. It is used by all speech of your organization that starts afterwards, in other processes of the service within two seconds.',
  requestBody: { required: true, content: { 'application/json': { schema: jsonBody(DocumentedBody) } } },
  responses: {
    200: jsonResponse('The entry', EntryObject),
    400: errorResponse(
      'A field is missing or invalid; `param` is its name. `storage_limit_exceeded`: the lexicon is full',
    ),
    415: errorResponse('The body is not JSON'),
    503: BUSY,
  },
};

export const DELETE = {
  summary: 'Delete an entry of the lexicon',
  description: 'The word is read as written by all speech that starts afterwards.',
  parameters: [
    { ...queryParameter('word', { type: 'string' }, 'The word of the entry.'), required: true },
    queryParameter('language', { type: 'string' }, 'The language of the entry; absent if it has none.'),
  ],
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
    400: errorResponse('A parameter is missing or invalid; `param` is its name'),
    404: errorResponse('Your organization has no such entry'),
    503: BUSY,
  },
};
