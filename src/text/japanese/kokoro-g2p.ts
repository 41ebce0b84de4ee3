/**
 * Japanese text to the symbols of Kokoro, as in misaki 0.9.4 (cutlet.py), which the model was trained with: the readings of
 * UniDic, spaces between the words of a list. Latin words, which misaki leaves as letters, are phonemized by eSpeak NG.
 */

import { kokoroSounds } from '../espeak-g2p.ts';
import { foreignPhonemes } from '../foreign-words.ts';
import { symbolsOfKana } from '../kana.ts';
import type { EspeakNg, G2p, Pronunciation, SymbolSet } from '../language.ts';
import type { TracedText } from '../traced-text.ts';
import type { Dictionary } from './dictionary.ts';
import { type Segment, segmentsOf } from './segmenter.ts';

export interface JapaneseG2pOptions {
  readonly dictionary: Dictionary;
  /** Words that are written as one, in their usual spelling. */
  readonly compounds: ReadonlySet<string>;
  /** The spoken form of a text. */
  readonly read: (text: string) => TracedText;
  readonly symbols: SymbolSet;
  readonly espeak: EspeakNg;
}

/** Words of other scripts. */
const FOREIGN =
  /(?:(?![\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}ー\u3099\u309a])[\p{L}\p{M}])(?:(?![\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}ー])[\p{L}\p{M}'’-])*/gu;
/** Columns of UniDic: the reading as it is spoken, and in kana. */
const [SPOKEN, KANA] = [9, 17];
/** Readings of everyday speech, where UniDic has the formal one. */
const READINGS: ReadonlyMap<string, string> = new Map([['私', 'ワタシ']]);
/** A character without a known reading is named. */
const UNREADABLE = 'カンジ';
const MARKS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '。': '.',
    '、': ',',
    '，': ',',
    '．': '.',
    '「': '“',
    '」': '”',
    '『': '“',
    '』': '”',
    '«': '“',
    '»': '”',
    '～': '—',
    '〜': '—',
    '―': '—',
  }),
);
/** Kokoro was trained without them in Japanese. */
const BRACKETS = new Set('()[]（）《》【】');
const OPENS = /^[「『«“(（《【[]+$/u;
const CLOSES = /^[」』»”)）》】\].,?!:;。、]+$/u;
/** Longer compounds of segments are not looked up. */
const MAX_COMPOUND_SEGMENTS = 12;

/** A word of one or more segments. */
interface Word {
  readonly surface: string;
  readonly start: number;
  readonly reading: string;
  /** Kana and marks are not written together. */
  readonly kind: 'kana' | 'foreign' | 'other';
}

export function createJapaneseG2p(options: JapaneseG2pOptions): G2p {
  const { dictionary, compounds, read, symbols, espeak } = options;
  return {
    async phonemize(text) {
      const spoken = read(text);
      // UniDic knows the Japanese full stop.
      const line = spoken.text.replace(/\s/gu, ' ').replace(/\.(?= |$)/gu, '。');
      const isReading = ({ surface, start }: Word) =>
        /^[ァ-ヺー]+$/u.test(surface) &&
        !/[\u3041-\u30ff\uff66-\uff9f]/u.test(text.charAt(spoken.sourceOf(start)));
      const found = joinedWords(wordsOf(line, dictionary), compounds, isReading);
      const foreign = found.filter(({ kind }) => kind === 'foreign');
      const sounds = await foreignPhonemes(
        espeak,
        foreign.map(({ surface }) => surface),
      );
      return pronunciation(found, sounds, (start) => spoken.sourceOf(start), symbols);
    },
  };
}

function wordsOf(line: string, dictionary: Dictionary): Word[] {
  const words: Word[] = [];
  const foreign = Array.from(line.matchAll(FOREIGN), ({ 0: surface, index }) => ({ surface, start: index }));
  let next = 0;
  let until = 0;
  for (const segment of segmentsOf(line, dictionary)) {
    const end = segment.start + segment.surface.length;
    for (let word = foreign[next]; word !== undefined && word.start < end; word = foreign[next]) {
      words.push({ ...word, reading: '', kind: 'foreign' });
      until = word.start + word.surface.length;
      next++;
    }
    if (segment.start >= until) words.push(readWord(segment));
  }
  return words;
}

function readWord({ surface, start, isUnknown, features }: Segment): Word {
  const known =
    READINGS.get(surface) ??
    [features[SPOKEN], features[KANA]].find((kana) => kana !== undefined && kana !== '' && kana !== '*');
  if (known !== undefined) return { surface, start, reading: known, kind: 'kana' };
  if (isUnknown && /\p{Script=Han}/u.test(surface)) {
    return { surface, start, reading: UNREADABLE.repeat([...surface].length), kind: 'other' };
  }
  return {
    surface,
    start,
    reading: surface,
    kind: isUnknown && !/[ぁ-ヿ]/u.test(surface) ? 'other' : 'kana',
  };
}

/** Joins segments that are one word of the list, the longest one first, and those of the reading of a number. */
function joinedWords(
  words: readonly Word[],
  compounds: ReadonlySet<string>,
  isReading: (word: Word) => boolean,
): Word[] {
  const joined: Word[] = [];
  for (let at = 0; at < words.length; ) {
    const first = words[at];
    if (first === undefined) break;
    let end = at + 1;
    const isNumber = isReading(first);
    for (let next = words[end]; next !== undefined; next = words[end]) {
      const isPart = isNumber
        ? isReading(next) && isAdjacent(words[end - 1], next)
        : next.kind === first.kind && end - at < MAX_COMPOUND_SEGMENTS;
      if (!isPart) break;
      end++;
    }
    const surface = () =>
      words
        .slice(at, end)
        .map((word) => word.surface)
        .join('');
    while (!isNumber && end > at + 1 && !(first.kind === 'kana' && compounds.has(surface()))) end--;
    const parts = words.slice(at, end);
    joined.push({ ...first, surface: surface(), reading: parts.map(({ reading }) => reading).join('') });
    at = end;
  }
  return joined;
}

const isAdjacent = (word: Word | undefined, next: Word) =>
  word !== undefined && word.start + word.surface.length === next.start;

function pronunciation(
  words: readonly Word[],
  foreign: readonly string[],
  sourceOf: (start: number) => number,
  symbols: SymbolSet,
): Pronunciation {
  const phonemes: string[] = [];
  const origins: (number | undefined)[] = [];
  const add = (symbol: string, source: number | undefined) => {
    if (!symbols.has(symbol)) return;
    phonemes.push(symbol);
    origins.push(source);
  };
  /** White space before the next symbol. */
  let space = false;
  let next = 0;
  for (const { surface, start, reading, kind } of words) {
    const source = sourceOf(start);
    const sounds = kind === 'foreign' ? kokoroSounds(foreign[next++] ?? '') : symbolsOfKana(reading);
    if (sounds !== '') {
      // The pause of っ is a part of the words around it.
      const isJoined = sounds.startsWith('ʔ') ? !isMark(phonemes.at(-1)) : phonemes.at(-1) === 'ʔ';
      if (space && phonemes.length > 0 && !isJoined) add(' ', undefined);
      for (const symbol of sounds) add(symbol, symbol === ' ' ? undefined : source);
      space = true;
      continue;
    }
    if (space && phonemes.length > 0 && !CLOSES.test(surface)) add(' ', undefined);
    for (const mark of surface) if (!BRACKETS.has(mark)) add(MARKS.get(mark) ?? mark, undefined);
    space = !OPENS.test(surface);
  }
  return /\p{L}/u.test(phonemes.join(''))
    ? { phonemes: phonemes.join(''), sources: origins }
    : { phonemes: '', sources: [] };
}

const isMark = (symbol: string | undefined) => symbol !== undefined && /[!",.:;?—…”]/u.test(symbol);
