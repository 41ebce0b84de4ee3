/** Divides a text into parts by script, because the rules of a language read only the letters of its own one. */

import { SCRIPTS } from './scripts.ts';

/** A part of a text, and the language in which it is read. */
export interface ScriptPart {
  readonly text: string;
  /** Position of the part in the text, in UTF-16 units. */
  readonly start: number;
  /** BCP 47 tag. */
  readonly language: string;
}

/** Kana belong to the same words as the characters around them. */
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}\uff70]/u;
const CHINESE_CHARACTERS = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}々ー\\uff70\\u3099\\u309a';
/** Every language of Latin letters has its own names of the letters of these scripts, which are symbols of quantities. */
const OF_SYMBOLS = new Set(['Cyrillic', 'Greek']);
/** Signs before the first and after the last letter of a part. */
const OPENING = '[(“"「『《【（]{0,3}';
const CLOSING = '[)”"」』》】）.,;:!?…。、，！？：；।]{0,6}';
/** Between letters of a part: spaces, signs and digits. */
const BETWEEN = '[\\s\\p{P}\\p{N}]{0,8}';

/** The letters of a script as members of a class of characters, and the language of a part with them. */
const LETTERS: readonly (readonly [letters: string, language: string])[] = SCRIPTS.filter(
  ({ name }) => !OF_SYMBOLS.has(name),
).map(({ name, language }) =>
  name === 'Han' ? [CHINESE_CHARACTERS, language] : [`\\p{Script=${name}}`, language],
);
const PARTS = new RegExp(
  LETTERS.map(([own]) => {
    const word = `[${own}](?:[${own}\\p{M}\\u200c\\u200d])*`;
    return `(${OPENING}${word}(?:${BETWEEN}${word})*${CLOSING})`;
  }).join('|'),
  'gu',
);
const ANY_LETTER = new RegExp(`[${LETTERS.map(([own]) => own).join('')}]`, 'u');

/**
 * The parts of a text in a language: those with the letters of another script in a language of that script, with the signs around
 * them, and the rest in its own. Chinese characters are Japanese if the text has kana, otherwise Mandarin. Together the parts are the
 * text; there are no empty ones. Linear.
 * @param language BCP 47 tag. Mandarin and Japanese read each other's letters themselves.
 */
export function scriptParts(text: string, language: string): ScriptPart[] {
  if (!ANY_LETTER.test(text)) return text === '' ? [] : [{ text, start: 0, language }];
  const readsChinese = language === 'zh' || language === 'ja';
  const chinese = KANA.test(text) ? 'ja' : 'zh';
  const parts: ScriptPart[] = [];
  let own = 0;
  const addOwn = (end: number) => {
    if (end > own) parts.push({ text: text.slice(own, end), start: own, language });
    own = end;
  };
  for (const match of text.matchAll(PARTS)) {
    const [, ofScript = ''] = LETTERS[match.slice(1).findIndex((group) => group !== undefined)] ?? [];
    const isChinese = ofScript === 'zh';
    if (ofScript === language || (isChinese && readsChinese)) continue;
    addOwn(match.index);
    parts.push({ text: match[0], start: match.index, language: isChinese ? chinese : ofScript });
    own = match.index + match[0].length;
  }
  addOwn(text.length);
  return parts;
}
