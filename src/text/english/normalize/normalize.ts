/** Converts written English to spoken words and keeps the punctuation that carries prosody. */

import { type Chunk, chunksOf, type Reader, type Reading } from '../tokens.ts';
import { readAbbreviation } from './abbreviations.ts';
import { cleanText } from './clean-text.ts';
import { type IsWord, readCompound } from './compounds.ts';
import { readDate } from './dates.ts';
import { readFigures } from './digits.ts';
import { readLink } from './links.ts';
import { readMeasure } from './measures.ts';
import { readMoney } from './money.ts';
import { readPhone } from './phones.ts';
import { readRoman } from './romans.ts';
import { readTime } from './times.ts';

/** In order of precedence: the first reader that matches a chunk reads it. */
const READERS: readonly Reader[] = [
  readLink,
  readDate,
  readTime,
  readPhone,
  readMoney,
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

/**
 * "Dr. Smith paid $5.50 at 3:30 pm" → "Doctor Smith paid five dollars and fifty cents at three thirty PM".
 * The result has words separated by single spaces, hyphens and apostrophes inside words, and the punctuation
 * `; : , . ! ? — … “ ” ( )`. Words in capitals and single capital letters are to be spelled unless they are
 * words. Time and size are linear in the length of `text`. Does not throw.
 */
export function normalizeEnglish(text: string, options: NormalizeOptions = {}): string {
  const chunks = chunksOf(cleanText(text));
  const isWord = options.isWord ?? (() => false);
  const out = new Sentence();
  for (let at = 0; at < chunks.length; ) {
    const reading = readChunk(chunks, at, isWord);
    const last = chunks[at + reading.used - 1];
    out.add(reading.before ?? chunks[at]?.before ?? '', reading.spoken, reading.after ?? last?.after ?? '');
    at += reading.used;
  }
  return out.text();
}

function readChunk(chunks: readonly Chunk[], at: number, isWord: IsWord): Reading {
  const core = chunks[at]?.core ?? '';
  if (core.length > 0 && core.length <= MAX_SPECIAL_LENGTH) {
    for (const reader of READERS) {
      const reading = reader(chunks, at);
      if (reading !== undefined) return reading;
    }
  }
  return { spoken: bareSign(chunks, at) ?? readCompound(core, isWord), used: 1 };
}

/** A sign between numbers is an operator; otherwise a dash is a pause. */
function bareSign(chunks: readonly Chunk[], at: number): string | undefined {
  const core = chunks[at]?.core ?? '';
  const figure = /^[0-9]/;
  const sum = figure.test(chunks[at - 1]?.core ?? '') && figure.test(chunks[at + 1]?.core ?? '');
  const operator = sum && Object.hasOwn(OPERATORS, core) ? OPERATORS[core] : undefined;
  return operator ?? (/^[-–—]{1,3}$/u.test(core) ? '—' : undefined);
}

const OPERATORS: Readonly<Record<string, string>> = {
  '-': 'minus',
  '–': 'minus',
  '*': 'times',
  x: 'by',
  '/': 'divided by',
};

/** Collects words and punctuation, with one mark where several meet. */
class Sentence {
  /** Words with their punctuation; joined once at the end, so that the whole stays linear. */
  readonly #words: string[] = [];
  /** The last word, whose closing punctuation may still change. */
  #last = '';

  add(before: string, spoken: string, after: string): void {
    const closing = closingMarks(after);
    if (spoken === '' || spoken === '—') {
      if (spoken !== '' && this.#last !== '' && !ENDS_IN_MARK.test(this.#last.slice(-1))) this.#last += ' —';
      this.#close(closing.replace(/[”)]/gu, ''));
      return;
    }
    if (this.#last !== '') this.#words.push(this.#last);
    this.#last = openingMarks(before) + spoken;
    this.#close(closing);
  }

  /** Of several consecutive marks, the last one is used. */
  #close(marks: string): void {
    if (marks === '' || this.#last === '') return;
    const replaced = /[.,;:]/.test(this.#last.slice(-1)) && STOPS.has(marks.charAt(0));
    this.#last = (replaced ? this.#last.slice(0, -1) : this.#last) + marks;
  }

  text(): string {
    if (this.#last !== '') this.#words.push(this.#last);
    this.#last = '';
    return this.#words
      .join(' ')
      .replace(/^[—,;:.!?… )”]+/u, '')
      .trim();
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
