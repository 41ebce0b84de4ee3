/**
 * Converts text to the phoneme ids of a Piper voice: text normalization, eSpeak's IPA, the voice's id map.
 */

import type { GivenSounds } from '../../contract/engines/engine.ts';
import type { Espeak } from '../../text/espeak.ts';
import { type SpokenFormWord, type TextFrontEnd, TracedText } from '../../text/front-end.ts';
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
  /**
   * Returns the sentences; an empty list if the text has no speakable content. Does not throw.
   * @param given words whose sounds are given, in order, without overlaps. Words whose sounds the voice does not have are read as
   * written.
   */
  phonemize(text: string, given?: readonly GivenSounds[]): Promise<PiperSentence[]>;
}

/** Returns the phonemes of each clause, in the symbols of the voice. Clauses have no punctuation between words. */
export type ClausePhonemes = (clauses: readonly string[]) => Promise<readonly string[]>;

export interface PiperG2pDeps {
  readonly phonemes: ClausePhonemes;
  /** The spoken form of a text. */
  readonly words: TextFrontEnd['words'];
  readonly phonemeIds: PhonemeIdMap;
  /** The sounds of an IPA transcription in the symbols of the voice; absent: it has other symbols. */
  readonly soundsOf?: ((ipa: string) => string) | undefined;
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
/** A mark between clauses. Not inside of numbers, times, abbreviations and dates as written: `3.5`, `12:30`, `z.B`, `3. mai`. */
const MARK = String.raw`[;!?${Object.keys(MARKS).join('')}]|[,:](?!\p{N})|(?<!\p{N})[,:]|(?<!\.\p{L})\.(?![\p{L}\p{N}])(?!(?<=\p{N}\.) \p{Ll})`;
const MARKS_BETWEEN_CLAUSES = new RegExp(`(?:${MARK})(?:${MARK}|\\s)*`, 'gu');

/** Consecutive words and the punctuation after them. */
interface Clause {
  readonly words: string;
  /** Position of each word in the source text. */
  readonly sources: readonly number[];
  readonly marks: string;
}

/** A clause and its phonemes. */
interface SpokenClause {
  readonly clause: Clause;
  readonly phonemes: string;
  /** For each group of phonemes between spaces, the index of its word; absent if eSpeak may have joined words. */
  readonly groups?: readonly number[];
}

/** The phonemes of a clause, or punctuation. */
type Spoken = Partial<SpokenClause> & Pick<SpokenClause, 'phonemes'>;

/** A part of the source text and its phonemes. */
interface Reading {
  readonly start: number;
  readonly end: number;
  readonly phonemes: string;
}

/** Creates a converter for one voice. */
export function createPiperG2p({ phonemes, words, phonemeIds, soundsOf }: PiperG2pDeps): PiperG2p {
  return {
    async phonemize(text, given = []) {
      const readings = given
        .map(({ start, end, ipa }) => ({ start, end, phonemes: soundsOf?.(ipa) ?? '' }))
        .filter(({ phonemes }) => isSpeakable(phonemes, phonemeIds));
      const clauses = clausesOf(separateWords(text, readings, words));
      const spoken = await speakClauses(phonemes, clauses);
      const sentences = sentencesOf(
        readings.length === 0 ? spoken : await withReadings(spoken, readings, phonemes),
      );
      return sentences
        .filter((sentence) => sentence.some(({ phonemes }) => /\p{L}/u.test(phonemes)))
        .map((sentence) => framed(sentence, phonemeIds));
    },
  };
}

const isSpeakable = (phonemes: string, phonemeIds: PhonemeIdMap) =>
  [...phonemes].some((symbol) => /\p{L}/u.test(symbol) && idsOf(symbol, phonemeIds).length > 0);

/** The words of a text. Words with readings are words of their own: `well` in `well-known`. */
function separateWords(
  text: string,
  readings: readonly Reading[],
  words: TextFrontEnd['words'],
): SpokenFormWord[] {
  if (readings.length === 0) return words(text);
  const isInWord = (at: number) => /^[\p{L}\p{M}\p{N}'’-]{2}$/u.test(text.slice(at - 1, at + 1));
  const cuts = readings.flatMap(({ start, end }) => [start, end]).filter((at) => at > 0 && isInWord(at));
  const source = TracedText.of(text);
  const pieces = [0, ...cuts].map((from, i) => source.slice(from, cuts[i]));
  const separate = TracedText.join(pieces, ' ');
  return words(separate.text).map((word) => {
    // Marks before a word belong to it.
    const at = separate.sourceOf(word.source);
    const first = at + (/^[^\p{L}\p{N}\s]{0,4}/u.exec(text.slice(at, at + 4))?.[0].length ?? 0);
    const isRead = readings.some(({ start, end }) => start <= first && first < end);
    return { ...word, source: isRead ? first : at };
  });
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

async function speakClauses(phonemes: ClausePhonemes, clauses: readonly Clause[]): Promise<SpokenClause[]> {
  const isAsked = ({ words }: Clause) => /[\p{L}\p{N}]/u.test(words);
  const asked = clauses.filter(isAsked).map(({ words }) => words);
  const lines = asked.length === 0 ? [] : await phonemes(asked);
  let next = 0;
  return clauses.map((clause) => {
    const line = isAsked(clause) ? (lines[next++] ?? '') : '';
    // eSpeak names the language of a word that it reads by other rules.
    return { clause, phonemes: line.replace(/\([a-z-]{2,8}\)/g, '').trim() };
  });
}

/**
 * Replaces the phonemes of words with readings. They are asked for with their clause, because the words around them are spoken
 * differently alone. Where eSpeak has joined words, the parts of the clause are asked for separately.
 */
async function withReadings(
  spoken: readonly SpokenClause[],
  readings: readonly Reading[],
  phonemes: ClausePhonemes,
): Promise<SpokenClause[]> {
  const readingAt = (source: number) => readings.find(({ start, end }) => start <= source && source < end);
  const replaced: SpokenClause[] = [];
  const parts: Clause[] = [];
  for (const { clause, phonemes: line } of spoken) {
    const given = clause.sources.map(readingAt);
    const groups = line.split(/ +/u);
    const isGiven = given.some((reading) => reading !== undefined);
    const isWhole = groups.length === given.length || given.every((reading) => reading !== undefined);
    if (!isGiven) replaced.push({ clause, phonemes: line });
    else if (isWhole) replaced.push(withGroups(clause, given, groups));
    else {
      for (const { from, to, reading } of runsOf(given)) {
        const isLast = to === given.length;
        const part: Clause = {
          words: clause.words.split(/\s+/u).slice(from, to).join(' '),
          sources: clause.sources.slice(from, to),
          marks: isLast ? clause.marks : '',
        };
        if (reading === undefined) parts.push(part);
        replaced.push({ clause: part, phonemes: reading?.phonemes ?? '', groups: [0] });
      }
    }
  }
  if (parts.length === 0) return replaced;
  const asked = new Map((await speakClauses(phonemes, parts)).map((part) => [part.clause, part]));
  return replaced.map((part) => asked.get(part.clause) ?? part);
}

/** Consecutive words with the same reading, or without one. */
function runsOf(given: readonly (Reading | undefined)[]) {
  const starts = given.flatMap((reading, i) => (i === 0 || reading !== given[i - 1] ? [i] : []));
  return starts.map((from, i) => ({ from, to: starts[i + 1] ?? given.length, reading: given[from] }));
}

function withGroups(
  clause: Clause,
  given: readonly (Reading | undefined)[],
  groups: readonly string[],
): SpokenClause {
  const runs = runsOf(given).flatMap(({ from, to, reading }) =>
    reading === undefined
      ? groups.slice(from, to).map((group, i) => ({ group, word: from + i }))
      : reading.phonemes.split(' ').map((group) => ({ group, word: from })),
  );
  return { clause, phonemes: runs.map(({ group }) => group).join(' '), groups: runs.map(({ word }) => word) };
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
function sentencesOf(spoken: readonly SpokenClause[]): Spoken[][] {
  const sentences: Spoken[][] = [];
  let sentence: Spoken[] = [];
  for (const part of spoken) {
    const { marks } = part.clause;
    const kept = strongest([...marks].map((mark) => MARKS[mark] ?? mark));
    if (part.phonemes !== '') sentence.push(...(sentence.length > 0 ? [{ phonemes: ' ' }] : []), part);
    if (kept !== '') sentence.push({ phonemes: kept });
    if (!SENTENCE_END.test(marks)) continue;
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
function sourcesOf({ phonemes, clause, groups }: Spoken): (number | undefined)[] {
  const symbols = [...phonemes];
  if (clause === undefined) return symbols.map(() => undefined);
  let group = 0;
  const words =
    groups === undefined
      ? alignWords(clause.words.split(/\s+/u), phonemes)
      : symbols.map((symbol) => groups[symbol === ' ' ? group++ : group]);
  return symbols.map((symbol, i) => (symbol === ' ' ? undefined : clause.sources[words[i] ?? 0]));
}
