/** Words of Mandarin and their syllables. */

import { Jieba } from '@node-rs/jieba';
import { dict } from '@node-rs/jieba/dict';
import { pinyin } from 'pinyin-pro';
import readings from './readings.json' with { type: 'json' };

/** A word, and for each of its characters the syllable in pinyin: `v` for ü and a digit from 1 to 5 for the tone. */
export interface Word {
  readonly characters: readonly string[];
  readonly syllables: readonly string[];
}

/** @param run Chinese characters only. */
export type WordsOf = (run: string) => readonly Word[];

/** Of a character without a reading, as rare ones are: 某, "a certain one", as in writing about unknown names. */
const UNKNOWN = 'mou3';

/**
 * Words of which pypinyin 0.55, which misaki uses, reads a syllable differently from pinyin-pro: polyphones, neutral tones, and
 * the tones of 一 and 不 in fixed words; and characters that stand alone. From the words with a frequency of at least 50 in the dictionary of jieba, without
 * errors of pypinyin such as 很长 with zhǎng.
 */
const READINGS: ReadonlyMap<string, string> = new Map(Object.entries(readings));

/** Opens the dictionaries: about 0.3 s and 90 MB. Words are those of jieba with its hidden Markov model, as in misaki. */
export function openDictionary(): WordsOf {
  const jieba = Jieba.withDict(dict);
  return (run) => {
    const inContext = syllablesOf(run);
    let start = 0;
    return jieba.cut(run, true).map((text) => {
      const characters = [...text];
      const end = start + characters.length;
      const syllables =
        characters.length > 1 || text === run || inContext[start] === UNKNOWN
          ? (READINGS.get(text)?.split(' ') ?? syllablesOf(text))
          : inContext.slice(start, end);
      start = end;
      return { characters, syllables };
    });
  };
}

function syllablesOf(text: string): readonly string[] {
  return pinyin(text, { toneType: 'num', type: 'array', toneSandhi: false }).map((syllable) =>
    /^[a-zêü]+[0-5]$/.test(syllable) ? syllable.replace('ü', 'v').replace('0', '5') : UNKNOWN,
  );
}
