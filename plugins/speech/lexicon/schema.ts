/** Wire formats of the pronunciation lexicon: an entry, and the query that names one. */

import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { LexiconEntry, LexiconRecord } from '../../../src/contract/stores/lexicon-store.ts';
import { orNull, UnixSeconds } from '../../../src/http/openapi/schemas.ts';
import { checkedBody } from '../../../src/http/request/json-body.ts';
import { readQuery } from '../../../src/http/request/query.ts';
import {
  type CheckedEntry,
  checkedEntry,
  checkedKey,
  MAX_READING_CHARACTERS,
  MAX_WORD_CHARACTERS,
} from '../../../src/kit/validation/lexicon-entry.ts';

const WORD =
  'A word or a short phrase, matched as whole words. A word with a capital letter after the first letter, such as `SQL` or `iPhone`, is matched in its own case; all others are matched in any case.';
const LANGUAGE =
  'BCP 47 tag of the texts for which the entry holds: `en` holds for `en-US` and `en-GB`. Default: all texts.';
const PHONEMES =
  'How it sounds, in the International Phonetic Alphabet. At most 20 characters, and 10 more for each character of the word. Either `phonemes` or `respelling`.';
const RESPELLING =
  'Text that is read instead of the word. At most 20 characters, and 10 more for each character of the word. Either `phonemes` or `respelling`.';

/** The lengths are those of Unicode code points, which TypeBox does not count; they are checked with the other rules. */
const EntryBody = Type.Object({
  word: Type.String(),
  language: Type.Optional(Type.String()),
  phonemes: Type.Optional(Type.String()),
  respelling: Type.Optional(Type.String()),
});
const checker = TypeCompiler.Compile(EntryBody);

/** Documents the body of PUT in OpenAPI. */
export const DocumentedBody = Type.Object(
  {
    word: Type.String({ minLength: 1, maxLength: MAX_WORD_CHARACTERS, description: WORD }),
    language: Type.Optional(Type.String({ maxLength: 35, description: LANGUAGE })),
    phonemes: Type.Optional(Type.String({ maxLength: MAX_READING_CHARACTERS, description: PHONEMES })),
    respelling: Type.Optional(Type.String({ maxLength: MAX_READING_CHARACTERS, description: RESPELLING })),
  },
  { examples: [{ word: 'Nguyen', language: 'en', phonemes: 'wɪn' }] },
);

export const EntryObject = Type.Object(
  {
    object: Type.Literal('audio.lexicon.entry'),
    word: Type.String({ description: WORD, examples: ['Nguyen'] }),
    language: orNull(Type.String({ description: LANGUAGE, examples: ['en'] })),
    phonemes: orNull(Type.String({ description: PHONEMES, examples: ['wɪn'] })),
    respelling: orNull(Type.String({ description: RESPELLING })),
    updated_at: UnixSeconds,
  },
  { title: 'Lexicon entry' },
);

/** @throws ServiceError `invalid_request` with the name of the field. */
export function parseEntry(body: unknown): LexiconEntry {
  return required(checkedEntry(checkedBody<Static<typeof EntryBody>>(body, checker)));
}

/** @throws ServiceError `invalid_request` with the name of the parameter. */
export function parseEntryQuery(request: Request): Pick<LexiconEntry, 'word' | 'language'> {
  const { word, language } = readQuery(request, ['word', 'language']);
  return required(checkedKey({ word, language: language || undefined }));
}

function required<Entry>({ entry, problem }: CheckedEntry<Entry>): Entry {
  if (problem === undefined) return entry;
  throw invalidRequest(`'${problem.field}' ${problem.problem}.`, problem.field, problem.code);
}

/** The wire object of an entry. */
export function entryObject({ word, language, phonemes, respelling, updatedAt }: LexiconRecord) {
  return {
    object: 'audio.lexicon.entry',
    word,
    language: language ?? null,
    phonemes: phonemes ?? null,
    respelling: respelling ?? null,
    updated_at: updatedAt,
  } satisfies Static<typeof EntryObject>;
}
