import { Elysia } from 'elysia';
import { ServiceError } from '../../../src/contract/core/error.ts';
import type { Lexicons } from '../../../src/contract/stores/lexicon-store.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { MAX_LEXICON_ENTRIES } from '../../../src/kit/validation/lexicon-entry.ts';
import * as docs from './openapi.ts';
import { entryObject, parseEntry, parseEntryQuery } from './schema.ts';

const PATH = '/v1/audio/lexicon';

/** GET, PUT and DELETE of /v1/audio/lexicon: how the organization of the caller wants words to be pronounced. */
export function lexiconRoutes(lexicons: Lexicons) {
  return new Elysia({ name: 'lexicon', tags: ['audio'] })
    .get(
      PATH,
      async ({ request }) => {
        const entries = await lexicons.list(callerOf(request).organization);
        return { object: 'list', data: entries.map(entryObject), has_more: false };
      },
      { detail: docs.LIST },
    )
    .put(
      PATH,
      async ({ request, body }) => {
        const { organization } = callerOf(request);
        return entryObject(await lexicons.put(organization, parseEntry(body), MAX_LEXICON_ENTRIES));
      },
      { detail: docs.PUT },
    )
    .delete(
      PATH,
      async ({ request }) => {
        const key = parseEntryQuery(request);
        if (!(await lexicons.delete(callerOf(request).organization, key))) {
          throw new ServiceError(
            'not_found',
            'The lexicon of your organization has no entry with this word and language.',
            { param: 'word' },
          );
        }
        const { word, language = null } = key;
        return { object: 'audio.lexicon.entry.deleted', word, language, deleted: true };
      },
      { detail: docs.DELETE },
    );
}
