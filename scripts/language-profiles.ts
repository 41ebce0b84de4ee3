/**
 * `bun scripts/language-profiles.ts`: writes the n-grams of languages from the database of eld to src/text/detection. A language is
 * one line, so that only the languages that a model speaks are read.
 */

import { join } from 'node:path';

/** Those of Piper's voices and of the front ends. Hindi, Mandarin and Japanese are known by their letters. */
const LANGUAGES =
  'ar bg ca cs da de el en es fa fi fr hr hu is it ka lv ml nl no pl pt ro ru sk sl sq sr sv te tr uk ur vi';
// The package exports only a detector.
const ELD = join(import.meta.dirname, '../node_modules/eld/src');
const OUTPUT = join(import.meta.dirname, '../src/text/detection/profiles.jsonl');

interface EldDatabase {
  readonly languages: Readonly<Record<string, string>>;
  /** Score by language, by n-gram. */
  readonly ngrams: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const { dictionary }: { dictionary: readonly string[] } = await import(join(ELD, 'dictionary.js'));
const { ngramsData }: { ngramsData: EldDatabase } = await import(join(ELD, 'ngrams/extrasmall.js'));

/** eld writes the bytes of UTF-8 above 0x7f as other characters, because JavaScript has no strings of bytes. */
const BYTES = new Map(
  dictionary.flatMap((character, byte) =>
    byte >= 0x80 && character !== ' ' ? [[character, String.fromCharCode(byte)] as const] : [],
  ),
);

function profileOf(language: string): string {
  const { languages, ngrams } = ngramsData;
  const [id = ''] = Object.entries(languages).find(([, code]) => code === language) ?? [];
  const byScore: Record<string, string[]> = {};
  for (const [ngram, scores] of Object.entries(ngrams)) {
    const score = scores[id];
    if (score === undefined) continue;
    byScore[score] ??= [];
    byScore[score].push(Array.from(ngram, (each) => BYTES.get(each) ?? each).join(''));
  }
  const joined = Object.fromEntries(Object.entries(byScore).map(([score, all]) => [score, all.join('|')]));
  return JSON.stringify({ language, ngrams: joined }).replaceAll(
    /[\u0080-\u00ff]/g,
    (byte) => `\\u${byte.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

await Bun.write(OUTPUT, `${LANGUAGES.split(' ').map(profileOf).join('\n')}\n`);
