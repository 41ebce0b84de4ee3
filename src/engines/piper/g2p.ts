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

export interface PiperG2pDeps {
  readonly espeak: Espeak;
  /** The spoken form of a text. */
  readonly words: TextFrontEnd['words'];
  readonly phonemeIds: PhonemeIdMap;
}

const BEGIN = '^';
const END = '$';
const PAD = '_';
/** Replacements for punctuation that Piper voices do not support. */
const MARKS: Readonly<Record<string, string>> = { '…': '.', '—': ',', '“': '', '”': '', '(': ',', ')': ',' };
const SENTENCE_END = /[.!?…]/u;

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
export function createPiperG2p({ espeak, words, phonemeIds }: PiperG2pDeps): PiperG2p {
  return {
    async phonemize(text) {
      const clauses = clausesOf(words(text));
      const sentences = sentencesOf(clauses, await speakClauses(espeak, clauses));
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
  for (const match of normalized.matchAll(/([^;:,.!?…—()“”]*)([;:,.!?…—()“”\s]*)/gu)) {
    const { 1: spoken = '', 2: marks = '', index } = match;
    if (spoken === '' && marks === '') continue;
    const starts = Array.from(spoken.matchAll(/\S+/gu), (word) => index + word.index);
    clauses.push({ words: spoken.trim(), sources: starts.map((start) => sources[start] ?? 0), marks });
  }
  return clauses;
}

/**
 * One call for all clauses, because a call costs far more than a clause. Falls back to one call per clause if
 * the lines do not match.
 */
async function speakClauses(espeak: Espeak, clauses: readonly Clause[]): Promise<string[]> {
  const asked = clauses.map(({ words }) => words).filter((words) => /[\p{L}\p{N}]/u.test(words));
  if (asked.length === 0) return clauses.map(() => '');
  const together = await espeak(asked.join('.\n'));
  const lines = together.length === asked.length ? together : await oneByOne(espeak, asked);
  let next = 0;
  return clauses.map(({ words }) => (/[\p{L}\p{N}]/u.test(words) ? (lines[next++] ?? '').trim() : ''));
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

/** The ids of a symbol, or of the parts of a symbol that the voice supports. */
function idsOf(symbol: string, phonemeIds: PhonemeIdMap): (readonly number[])[] {
  const parts = Object.hasOwn(phonemeIds, symbol) ? [symbol] : [...symbol.normalize('NFD')];
  return parts.flatMap((part) => (Object.hasOwn(phonemeIds, part) ? [phonemeIds[part] ?? []] : []));
}

/** For each symbol, the position in the source text of its word. */
function sourcesOf({ phonemes, clause }: Spoken): (number | undefined)[] {
  const symbols = [...phonemes];
  if (clause === undefined) return symbols.map(() => undefined);
  const words = alignWords(clause.words.split(/\s+/u), phonemes);
  return symbols.map((symbol, i) => (symbol === ' ' ? undefined : clause.sources[words[i] ?? 0]));
}
