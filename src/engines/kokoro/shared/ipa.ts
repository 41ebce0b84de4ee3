/** Converts pronunciations that a request gives in the International Phonetic Alphabet to the symbols of Kokoro. */

import { plainIpa } from '../../../text/front-end.ts';

/** Sounds of two letters that the model has as one symbol, in every language. */
const AFFRICATES: readonly (readonly [string, string])[] = [
  ['tʃ', 'ʧ'],
  ['dʒ', 'ʤ'],
  ['ts', 'ʦ'],
  ['dz', 'ʣ'],
];
/** Sounds of English, as in the dictionaries that the model was trained with (misaki). */
const ENGLISH: readonly (readonly [string, string])[] = [
  ['aɪ', 'I'],
  ['aʊ', 'W'],
  ['eɪ', 'A'],
  ['oʊ', 'O'],
  ['əʊ', 'Q'],
  ['ɔɪ', 'Y'],
  ['ɝ', 'ɜɹ'],
  ['ɚ', 'əɹ'],
  ['r', 'ɹ'],
  ['ɾ', 'T'],
];
/**
 * Returns the symbols of an IPA transcription. Symbols that the model does not have are dropped.
 * @param language tag of the language, which decides how the model writes diphthongs.
 */
export function symbolsOfIpa(
  ipa: string,
  language: string,
  symbols: Pick<ReadonlySet<string>, 'has'>,
): string {
  let written = plainIpa(ipa);
  const sounds = language.startsWith('en') ? [...AFFRICATES, ...ENGLISH] : AFFRICATES;
  for (const [from, to] of sounds) written = written.replaceAll(from, to);
  return Array.from(written)
    .filter((symbol) => symbols.has(symbol))
    .join('');
}
