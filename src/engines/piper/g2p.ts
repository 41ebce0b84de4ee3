/**
 * Converts text to the phoneme ids of a Piper voice: text normalization, eSpeak's IPA, the voice's id map.
 */

import type { Espeak } from '../../text/espeak.ts';
import type { SpokenFormWord, TextFrontEnd } from '../../text/front-end.ts';
import { alignWords } from '../../text/word-alignment.ts';

/** `phoneme_id_map` of the voice's configuration: symbol to ids. */
export type PhonemeIdMap = Readonly<Record<string, readonly number[]>>;

export interface PiperSentence {
  /** Framed by the voice's begin and end marks, with padding after every symbol. */
  readonly ids: readonly number[];
  /**
   * For each id, the position in the text of the word that it belongs to; undefined for punctuation, spaces, and the
   * begin and end marks. Computed on request, because finding joined words takes up to a few milliseconds.
   */
  sources(): (number | undefined)[];
}

export interface PiperG2p {
  /** Returns the sentences; an empty list if the text has no speakable content. Does not throw. */
  phonemize(text: string): Promise<PiperSentence[]>;
}

/** Returns the phonemes of each clause, in the symbols of the voice. Clauses have no punctuation between words. */
export type ClausePhonemes = (clauses: readonly string[]) => Promise<readonly string[]>;

export interface PiperG2pDeps {
  readonly phonemes: ClausePhonemes;
  /** The spoken form of a text. */
  readonly words: TextFrontEnd['words'];
  readonly phonemeIds: PhonemeIdMap;
}

const BEGIN = '^';
const END = '$';
const PAD = '_';
/** Marks that Piper voices do not support, and what they are read as. */
const MARKS: Readonly<Record<string, string>> = {
  '…': '.',
  '—': ',',
  '(': ',',
  ')': ',',
  '“': '',
  '”': '',
  '„': '',
  '«': '',
  '»': '',
  '"': '',
  '¿': '',
  '¡': '',
  '।': '.',
  '॥': '.',
  '。': '.',
  '！': '!',
  '？': '?',
  '、': ',',
  '，': ',',
  '；': ';',
  '：': ':',
  '؟': '?',
  '،': ',',
  '؛': ';',
  '۔': '.',
};
const SENTENCE_END = /[.!?…।॥。！？؟۔]/u;
/** A mark between clauses. Not inside of numbers, times and abbreviations as written: `3.5`, `12:30`, `z.B`. */
const MARK = String.raw`[;!?${Object.keys(MARKS).join('')}]|[,:](?!\p{N})|(?<!\p{N})[,:]|(?<!\.\p{L})\.(?![\p{L}\p{N}])`;
const MARKS_BETWEEN_CLAUSES = new RegExp(`(?:${MARK})(?:${MARK}|\\s)*`, 'gu');

/** Consecutive words and the punctuation after them. */
interface Clause {
  readonly words: string;
  /** Position of each word in the source text. */
  readonly sources: readonly number[];
  readonly marks: string;
}

/** The phonemes of a clause, or punctuation. */
interface Spoken {
  readonly phonemes: string;
  readonly clause?: Clause;
}

/** Creates a converter for one voice. */
export function createPiperG2p({ phonemes, words, phonemeIds }: PiperG2pDeps): PiperG2p {
  return {
    async phonemize(text) {
      const clauses = clausesOf(words(text));
      const sentences = sentencesOf(clauses, await speakClauses(phonemes, clauses));
      return sentences
        .filter((sentence) => sentence.some(({ phonemes }) => /\p{L}/u.test(phonemes)))
        .map((sentence) => framed(sentence, phonemeIds));
    },
  };
}

function clausesOf(words: readonly SpokenFormWord[]): Clause[] {
  const normalized = words.map((word) => word.text).join(' ');
  /** For each UTF-16 unit of the normalized text, its position in the source text. */
  const sources = words.flatMap((word) => new Array<number>(word.text.length + 1).fill(word.source));
  const clauses: Clause[] = [];
  let from = 0;
  const add = (to: number, marks: string) => {
    const spoken = normalized.slice(from, to);
    const starts = Array.from(spoken.matchAll(/\S+/gu), (word) => from + word.index);
    if (starts.length > 0 || marks !== '') {
      clauses.push({ words: spoken.trim(), sources: starts.map((start) => sources[start] ?? 0), marks });
    }
    from = to + marks.length;
  };
  for (const { 0: marks, index } of normalized.matchAll(MARKS_BETWEEN_CLAUSES)) add(index, marks);
  add(normalized.length, '');
  return clauses;
}

async function speakClauses(phonemes: ClausePhonemes, clauses: readonly Clause[]): Promise<string[]> {
  const asked = clauses.map(({ words }) => words).filter((words) => /[\p{L}\p{N}]/u.test(words));
  if (asked.length === 0) return clauses.map(() => '');
  const lines = await phonemes(asked);
  let next = 0;
  return clauses.map(({ words }) => (/[\p{L}\p{N}]/u.test(words) ? (lines[next++] ?? '').trim() : ''));
}

/**
 * Phonemes of an eSpeak that splits a text into lines: one call for all clauses, because a call costs far more than a clause.
 * Falls back to one call per clause if the lines do not match.
 */
export function phonemesInOneCall(espeak: Espeak): ClausePhonemes {
  return async (clauses) => {
    const together = await espeak(clauses.join('.\n'));
    return together.length === clauses.length ? together : await oneByOne(espeak, clauses);
  };
}

async function oneByOne(espeak: Espeak, asked: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const words of asked) lines.push((await espeak(words)).join(' '));
  return lines;
}

/** Phonemes with punctuation, split after each sentence. */
function sentencesOf(clauses: readonly Clause[], lines: readonly string[]): Spoken[][] {
  const sentences: Spoken[][] = [];
  let sentence: Spoken[] = [];
  for (const [i, clause] of clauses.entries()) {
    const phonemes = (lines[i] ?? '').replace(/\([a-z-]{2,8}\)/g, '');
    const kept = strongest([...clause.marks].map((mark) => MARKS[mark] ?? mark));
    if (phonemes !== '')
      sentence.push(...(sentence.length > 0 ? [{ phonemes: ' ' }] : []), { phonemes, clause });
    if (kept !== '') sentence.push({ phonemes: kept });
    if (!SENTENCE_END.test(clause.marks)) continue;
    sentences.push(sentence);
    sentence = [];
  }
  return [...sentences, sentence];
}

/** Reduces consecutive punctuation to one mark; a stop takes precedence over a comma. */
function strongest(marks: readonly string[]): string {
  return ['?', '!', '.', ';', ':', ','].find((mark) => marks.includes(mark)) ?? '';
}

function framed(sentence: readonly Spoken[], phonemeIds: PhonemeIdMap): PiperSentence {
  const pad = phonemeIds[PAD] ?? [];
  const begin = [...(phonemeIds[BEGIN] ?? []), ...pad];
  const end = phonemeIds[END] ?? [];
  const symbols = sentence.flatMap(({ phonemes }) => [...phonemes]);
  const symbolIds = symbols.map((symbol) => idsOf(symbol, phonemeIds).flatMap((ids) => [...ids, ...pad]));
  return {
    ids: [...begin, ...symbolIds.flat(), ...end],
    sources() {
      const sources = sentence.flatMap(sourcesOf);
      return [
        ...begin.map(() => undefined),
        ...symbolIds.flatMap((ids, i) => ids.map(() => sources[i])),
        ...end.map(() => undefined),
      ];
    },
  };
}

/**
 * The ids of a symbol. Piper decomposes symbols before it looks for them, in the training too: `ç` is `c` and a cedilla. Parts
 * that the voice does not have are dropped.
 */
function idsOf(symbol: string, phonemeIds: PhonemeIdMap): (readonly number[])[] {
  const isKnown = (part: string) => Object.hasOwn(phonemeIds, part);
  const parts = [...symbol.normalize('NFD')].filter(isKnown);
  return (parts.length > 0 ? parts : [symbol].filter(isKnown)).map((part) => phonemeIds[part] ?? []);
}

/** For each symbol, the position in the source text of its word. */
function sourcesOf({ phonemes, clause }: Spoken): (number | undefined)[] {
  const symbols = [...phonemes];
  if (clause === undefined) return symbols.map(() => undefined);
  const words = alignWords(clause.words.split(/\s+/u), phonemes);
  return symbols.map((symbol, i) => (symbol === ' ' ? undefined : clause.sources[words[i] ?? 0]));
}
