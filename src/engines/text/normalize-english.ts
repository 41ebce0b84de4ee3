/** Turns written English into the words that people say, keeping the punctuation that carries prosody. */

import { readAbbreviation } from './abbreviations.ts';
import { type Chunk, chunksOf, type Reader, type Reading } from './chunks.ts';
import { cleanText } from './clean-text.ts';
import { type IsWord, readCompound } from './compounds.ts';
import { readDate } from './dates.ts';
import { readFigures } from './figures.ts';
import { readLink } from './links.ts';
import { readMeasure } from './measures.ts';
import { readMoney } from './money.ts';
import { readPhone } from './phones.ts';
import { readRoman } from './romans.ts';
import { readTime } from './times.ts';

/** In order: the first that knows a chunk reads it. */
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
/** No written number, address or date is longer; beyond it only the general reader works. */
const MAX_SPECIAL_LENGTH = 200;

export interface NormalizeOptions {
  /** Whether the dictionary has a word as written; decides if "YouTube" stays one word. Default: never. */
  readonly isWord?: IsWord;
}

/**
 * "Dr. Smith paid $5.50 at 3:30 pm" → "Doctor Smith paid five dollars and fifty cents at three thirty PM".
 *
 * The result holds words parted by single blanks, hyphens and apostrophes inside words, and the marks
 * `; : , . ! ? — … “ ” ( )`. Words in capitals and single capital letters are meant to be spelled unless
 * they are words. Time and size are linear in the length of `text`; nothing throws.
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
  return { spoken: bareDash(chunks, at) ?? readCompound(core, isWord), used: 1 };
}

/** A dash on its own is a pause between words and a minus between figures. */
function bareDash(chunks: readonly Chunk[], at: number): string | undefined {
  const core = chunks[at]?.core ?? '';
  if (!/^[-–—]{1,3}$/u.test(core)) return undefined;
  const figure = /^[0-9]/;
  const sum = figure.test(chunks[at - 1]?.core ?? '') && figure.test(chunks[at + 1]?.core ?? '');
  return sum && core !== '—' ? 'minus' : '—';
}

/** Collects words and marks, keeping one mark where several meet. */
class Sentence {
  #out = '';

  add(before: string, spoken: string, after: string): void {
    const opening = openingMarks(before);
    const closing = closingMarks(after);
    if (spoken === '' || spoken === '—') {
      if (this.#out !== '' && !/[—,;:.!?…]$/u.test(this.#out)) this.#out += spoken === '' ? '' : ' —';
      this.#close(closing.replace(/[”)"]/gu, ''));
      return;
    }
    this.#out += `${this.#out === '' ? '' : ' '}${opening}${spoken}`;
    this.#close(closing);
  }

  #close(marks: string): void {
    if (marks === '' || this.#out === '') return;
    // One of several marks in a row is enough: the stronger one wins.
    const stop = /[.,;:]$/.test(this.#out) && /^[.,;:!?…]/u.test(marks);
    this.#out = (stop ? this.#out.slice(0, -1) : this.#out) + marks;
  }

  text(): string {
    return this.#out.replace(/^[—,;:.!?… )”]+/u, '').trim();
  }
}

function openingMarks(before: string): string {
  let marks = '';
  for (const char of before) {
    if (char === '(' || char === '[') marks += '(';
    else if (char === '"' || char === '“') marks += '“';
  }
  return marks.slice(0, 2);
}

/** At most one stop and the closing brackets and quotes around it: '!!!)"' → "!)”". */
function closingMarks(after: string): string {
  let stop = '';
  let dots = 0;
  let wraps = '';
  let wrapsFirst = false;
  for (const char of after) {
    if (char === '.') dots++;
    if (char === '?' || (char === '!' && stop !== '?')) stop = char;
    else if (stop === '' && '.,;:…'.includes(char)) stop = char;
    else if (char === ')' || char === ']') wraps += ')';
    else if (char === '"' || char === '”') wraps += '”';
    if (wraps !== '' && stop === '') wrapsFirst = true;
  }
  if (dots > 1 && (stop === '.' || stop === '')) stop = '…';
  const closing = wraps.slice(0, 2);
  return wrapsFirst ? closing + stop : stop + closing;
}
