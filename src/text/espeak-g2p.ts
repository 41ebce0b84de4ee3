/**
 * Phonemes of eSpeak NG in the symbols that Kokoro was trained with, for languages without a dictionary: the conversion of
 * misaki 0.9.4 (EspeakG2P), clause by clause.
 */

import { foreignPhonemes, isForeign } from './foreign-words.ts';
import type { EspeakNg, G2p, Pronunciation, SpokenFormWord, SymbolSet } from './language.ts';
import { alignWords } from './word-alignment.ts';

/** Sounds of two letters, in the order of misaki. */
const SOUNDS: readonly (readonly [string, string])[] = [
  ['a^ɪ', 'I'],
  ['a^ʊ', 'W'],
  ['d^z', 'ʣ'],
  ['d^ʒ', 'ʤ'],
  ['e^ɪ', 'A'],
  ['o^ʊ', 'O'],
  ['s^s', 'S'],
  ['t^s', 'ʦ'],
  ['t^ʃ', 'ʧ'],
  ['ɔ^ɪ', 'Y'],
  ['ə^ʊ', 'Q'],
];
/** Marks that separate clauses, with the spaces around them. */
const MARKS = /\s*[;:,.!?¡¿—…"«»“”(){}[\]]+\s*/gu;
/** Marks in the form of the model. */
const MODEL_MARKS: Readonly<Record<string, string>> = {
  '«': '“',
  '»': '”',
  '{': '(',
  '}': ')',
  '[': '(',
  ']': ')',
};
/** Longer clauses are split at a space, so that each request is short and words stay aligned in little time. */
const MAX_CLAUSE_CHARACTERS = 400;
/** Characters of one request. */
const MAX_REQUEST_CHARACTERS = 8_000;

export interface EspeakG2pOptions {
  readonly voice: string;
  readonly words: (text: string) => readonly SpokenFormWord[];
  readonly symbols: SymbolSet;
  readonly espeak: EspeakNg;
}

/** Text between two marks. */
interface Clause {
  readonly text: string;
  /** For each word, its position in the source text. */
  readonly sources: readonly number[];
  /** Whether it is a word in another script. */
  readonly isForeign?: true;
}

export function createEspeakG2p({ voice, words, symbols, espeak }: EspeakG2pOptions): G2p {
  return {
    async phonemize(text) {
      const parts = partsOf(words(text), voice);
      const clauses = parts.filter((part) => typeof part !== 'string');
      const own = await inRequests(
        espeak,
        voice,
        clauses.filter((clause) => !clause.isForeign),
      );
      const foreign = await foreignPhonemes(
        espeak,
        clauses.filter((clause) => clause.isForeign).map((clause) => clause.text),
      );
      const [nextOwn, nextForeign] = [own.values(), foreign.values()];
      const spoken = clauses.map((clause) => (clause.isForeign ? nextForeign : nextOwn).next().value ?? '');
      return joined(parts, spoken, symbols);
    },
  };
}

async function inRequests(
  espeak: EspeakNg,
  voice: string,
  clauses: readonly Clause[],
): Promise<readonly string[]> {
  const phonemes: string[] = [];
  let request: string[] = [];
  let characters = 0;
  const send = async () => {
    if (request.length > 0) phonemes.push(...(await espeak(voice, request)));
    request = [];
    characters = 0;
  };
  for (const { text } of clauses) {
    if (characters + text.length > MAX_REQUEST_CHARACTERS) await send();
    request.push(text);
    characters += text.length;
  }
  await send();
  return phonemes;
}

/** Clauses, and the marks between them. */
function partsOf(words: readonly SpokenFormWord[], voice: string): (Clause | string)[] {
  const text = words.map((word) => word.text).join(' ');
  /** For each UTF-16 unit, its position in the source text. */
  const sources = words.flatMap((word) => new Array<number>(word.text.length + 1).fill(word.source));
  const parts: (Clause | string)[] = [];
  let from = 0;
  for (const { 0: marks, index } of text.matchAll(MARKS)) {
    parts.push(...clausesOf(text, { start: from, end: index }, sources, voice), marks);
    from = index + marks.length;
  }
  return [...parts, ...clausesOf(text, { start: from, end: text.length }, sources, voice)];
}

function clausesOf(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  sources: readonly number[],
  voice: string,
): (Clause | string)[] {
  const clauses: (Clause | string)[] = [];
  let words: string[] = [];
  let positions: number[] = [];
  let characters = 0;
  const add = (clause: Clause) => clauses.push(...(clauses.length > 0 ? [' '] : []), clause);
  const close = () => {
    if (words.length > 0) add({ text: words.join(' '), sources: positions });
    words = [];
    positions = [];
    characters = 0;
  };
  for (const { 0: word, index } of text.slice(start, end).matchAll(/\S+/gu)) {
    if (isForeign(word, voice)) {
      close();
      add({ text: word, sources: [sources[start + index] ?? 0], isForeign: true });
      continue;
    }
    if (characters + word.length > MAX_CLAUSE_CHARACTERS) close();
    words.push(word.slice(0, MAX_CLAUSE_CHARACTERS));
    positions.push(sources[start + index] ?? 0);
    characters += word.length + 1;
  }
  close();
  return clauses;
}

/** Joins the phonemes and the marks, in the symbols of the model. */
function joined(
  parts: readonly (Clause | string)[],
  spoken: readonly string[],
  symbols: SymbolSet,
): Pronunciation {
  const phonemes: string[] = [];
  const sources: (number | undefined)[] = [];
  const add = (symbol: string, source: number | undefined) => {
    if (!symbols.has(symbol) || (symbol === ' ' && (phonemes.at(-1) ?? ' ') === ' ')) return;
    phonemes.push(symbol);
    sources.push(source);
  };
  let next = 0;
  for (const part of parts) {
    if (typeof part === 'string') {
      for (const mark of part) add(/\s/u.test(mark) ? ' ' : (MODEL_MARKS[mark] ?? mark), undefined);
      continue;
    }
    const sounds = kokoroSounds(spoken[next++] ?? '');
    const words = alignWords(part.text.split(' '), sounds);
    for (const [i, symbol] of [...sounds].entries()) {
      add(symbol, symbol === ' ' ? undefined : part.sources[words[i] ?? 0]);
    }
  }
  const end = phonemes.length - (phonemes.at(-1) === ' ' ? 1 : 0);
  const text = phonemes.slice(0, end).join('');
  return /\p{L}/u.test(text)
    ? { phonemes: text, sources: sources.slice(0, end) }
    : { phonemes: '', sources: [] };
}

/** "t^ʃˈa^ʊ" → "ʧˈW". */
export function kokoroSounds(ipa: string): string {
  let sounds = ipa;
  for (const [from, to] of SOUNDS) sounds = sounds.replaceAll(from, to);
  return sounds.replaceAll('^', '').replaceAll('-', '').trim();
}
