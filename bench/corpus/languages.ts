/** Texts of 5–20 words without digits, 60 for each language of speech, and English texts whose language is easily mistaken. */

import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'languages');

/** Names of the files, and the BCP 47 tags of their texts. */
export const CORPUS_LANGUAGES = {
  en: 'en-US',
  es: 'es',
  fr: 'fr',
  it: 'it',
  pt: 'pt-BR',
  hi: 'hi',
  ja: 'ja',
  zh: 'zh',
} as const;
export type CorpusLanguage = keyof typeof CORPUS_LANGUAGES;

/** @param name `en-mixed`: English texts with names, foreign words, code, lists and numbers. */
export async function languageTexts(name: CorpusLanguage | 'en-mixed'): Promise<string[]> {
  return (await Bun.file(join(FOLDER, `${name}.txt`)).text()).trim().split('\n');
}
