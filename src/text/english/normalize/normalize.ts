/** Converts written English to spoken words and keeps the punctuation that carries prosody. */

import { type Chunk, chunksOf, coreAt, type Reader, type Reading } from '../tokens.ts';
import { readAbbreviation } from './abbreviations.ts';
import { readAddress } from './addresses.ts';
import { cleanText } from './clean-text.ts';
import { type IsWord, readCompound } from './compounds.ts';
import { readDate } from './dates.ts';
import { readFigures } from './digits.ts';
import { readLink } from './links.ts';
import { readMeasure } from './measures.ts';
import { readMoney } from './money.ts';
import { readPhone } from './phones.ts';
import { readRoman } from './romans.ts';
import { isTimeRange, readTime } from './times.ts';

/** In order of precedence: the first reader that matches a chunk reads it. */
const READERS: readonly Reader[] = [
  readLink,
  readDate,
  readTime,
  readPhone,
  readMoney,
  readAddress,
  readMeasure,
  readAbbreviation,
  readRoman,
  readFigures,
];
/** No number, address or date is longer; only the general reader handles longer chunks. */
const MAX_SPECIAL_LENGTH = 200;

export interface NormalizeOptions {
  /**
   * Whether the dictionary has a word as written; decides whether "YouTube" stays one word. Default: never.
   */
  readonly isWord?: IsWord;
}

/** A spoken word with its punctuation. */
export interface NormalizedWord {
  /** Not empty, without white space. Some words consist of a dash only. */
  readonly text: string;
  /** Position in the source text of the chunk that the word comes from. */
  readonly source: number;
}

/**
 * "Dr. Smith paid $5.50 at 3:30 pm" → "Doctor Smith paid five dollars and fifty cents at three thirty PM".
 * The words of the result have hyphens and apostrophes inside and the punctuation `; : , . ! ? — … “ ” ( )`. Words in
 * capitals and single capital letters are to be spelled unless they are words. Time and size are linear in the length
 * of `text`. Does not throw.
 */
export function normalizedWords(text: string, options: NormalizeOptions = {}): NormalizedWord[] {
  const chunks = chunksOf(cleanText(text));
  const isWord = options.isWord ?? (() => false);
  const out = new Sentence();
  for (let at = 0; at < chunks.length; ) {
    const reading = readChunk(chunks, at, isWord);
    const read = chunks.slice(at, at + reading.spoken.length);
    const spoken = read.map(({ source }, i) => ({ text: reading.spoken[i] ?? '', source }));
    out.add(reading.before ?? read[0]?.before ?? '', spoken, reading.after ?? read.at(-1)?.after ?? '');
    at += read.length;
  }
  return out.words();
}

/** The words of {@link normalizedWords}, separated by single spaces. */
export function normalizeEnglish(text: string, options: NormalizeOptions = {}): string {
  return normalizedWords(text, options)
    .map((word) => word.text)
    .join(' ');
}

function readChunk(chunks: readonly Chunk[], at: number, isWord: IsWord): Reading {
  const core = chunks[at]?.core ?? '';
  if (core.length > 0 && core.length <= MAX_SPECIAL_LENGTH) {
    for (const reader of READERS) {
      const reading = reader(chunks, at);
      if (reading !== undefined) return reading;
    }
  }
  return { spoken: [bareSign(chunks, at) ?? readCompound(core, isWord)] };
}

/** A sign between numbers is an operator; otherwise a dash is a pause. */
function bareSign(chunks: readonly Chunk[], at: number): string | undefined {
  const core = chunks[at]?.core ?? '';
  const figure = /^[0-9]/;
  const sum = figure.test(chunks[at - 1]?.core ?? '') && figure.test(chunks[at + 1]?.core ?? '');
  const operator = sum && Object.hasOwn(OPERATORS, core) ? OPERATORS[core] : undefined;
  if (/^[-–]$/u.test(core) && isTimeRange(coreAt(chunks, at - 1), coreAt(chunks, at + 1))) return 'to';
  const isProduct =
    PRODUCT_VERB.test(chunks[at + 2]?.core ?? '') ||
    DOSE.test(`${chunks[at + 1]?.core ?? ''} ${chunks[at + 2]?.core ?? ''}`);
  if (core === 'x' && sum && isProduct) return 'times';
  return operator ?? (/^[-–—]{1,3}$/u.test(core) ? '—' : undefined);
}

/** What follows a multiplication; other numbers with an x between them are sizes. */
const PRODUCT_VERB = /^(?:=|is|are|equals|makes)$/i;

/** Numbers of these units are not the sides of a size: "2 x 500 mg". */
const DOSE = /^[0-9][0-9.,]* ?(?:mg|mcg|µg|g|kg|ml|l|IU)(?: |$)/i;

const OPERATORS: Readonly<Record<string, string>> = {
  '-': 'minus',
  '–': 'minus',
  '*': 'times',
  x: 'by',
  '/': 'divided by',
};

/** The spoken words of a chunk. */
interface SpokenChunk {
  text: string;
  readonly source: number;
}

/** Collects words and punctuation, with one mark where several meet. */
class Sentence {
  /** The punctuation after the last one may still change. */
  readonly #chunks: SpokenChunk[] = [];

  /** Adds what was read from one or more chunks, and the outer punctuation around all of it. */
  add(before: string, read: readonly SpokenChunk[], after: string): void {
    const spoken = read.filter(({ text }) => text !== '');
    const closing = closingMarks(after);
    const isDash = spoken[0]?.text === '—';
    if (spoken.length === 0 || isDash) {
      const last = this.#chunks.at(-1);
      if (isDash && last !== undefined && !ENDS_IN_MARK.test(last.text.slice(-1))) last.text += ' —';
      this.#close(closing.replace(/[”)]/gu, ''));
      return;
    }
    for (const [i, { text, source }] of spoken.entries()) {
      this.#chunks.push({ text: i === 0 ? openingMarks(before) + text : text, source });
    }
    this.#close(closing);
  }

  /** Of several consecutive marks, the last one is used. */
  #close(marks: string): void {
    const last = this.#chunks.at(-1);
    if (marks === '' || last === undefined) return;
    const replaced = /[.,;:]/.test(last.text.slice(-1)) && STOPS.has(marks.charAt(0));
    last.text = (replaced ? last.text.slice(0, -1) : last.text) + marks;
  }

  /** Single words. Marks before the first one are dropped. */
  words(): NormalizedWord[] {
    const words: NormalizedWord[] = [];
    for (const { text, source } of this.#chunks) {
      for (const piece of text.split(' ')) {
        const word = words.length === 0 ? piece.replace(/^[—,;:.!?…)”]+/u, '') : piece;
        if (word !== '') words.push({ text: word, source });
      }
    }
    return words;
  }
}

const ENDS_IN_MARK = /[—,;:.!?…]/u;

function openingMarks(before: string): string {
  let marks = '';
  for (const char of before) {
    if (char === '(' || char === '[') marks += '(';
    else if (char === '"' || char === '“') marks += '“';
  }
  return marks.slice(0, 2);
}

/** Reduces several stops to the strongest one, and keeps brackets and quotes: '!?!)"' → "?)”". */
function closingMarks(after: string): string {
  const dots = after.split('.').length - 1;
  const stop = ['?', '!', '…', '.', ';', ':', ','].find((mark) => after.includes(mark)) ?? '';
  let marks = '';
  let stopped = false;
  for (const char of after) {
    if (char === ')' || char === ']') marks += ')';
    else if (char === '"' || char === '”') marks += '”';
    else if (STOPS.has(char) && !stopped) {
      marks += stop === '.' && dots > 1 ? '…' : stop;
      stopped = true;
    }
    if (marks.length === MAX_CLOSING_MARKS) break;
  }
  return marks;
}

const STOPS = new Set([...'.,;:!?…']);
/** More marks than `.”)”` after one word have no meaning. */
const MAX_CLOSING_MARKS = 4;
