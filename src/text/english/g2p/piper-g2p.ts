/**
 * Converts text to the phoneme ids of a Piper voice: text normalization, eSpeak's IPA, the voice's id map.
 */

import { normalizeEnglish } from '../normalize/normalize.ts';
import type { Espeak } from './espeak.ts';

/** `phoneme_id_map` of the voice's configuration: symbol to ids. */
export type PhonemeIdMap = Readonly<Record<string, readonly number[]>>;

export interface PiperG2p {
  /**
   * Returns the ids of each sentence, framed by the voice's begin and end marks, with padding after every
   * symbol; an empty list if the text has no speakable content. Does not throw.
   */
  phonemize(text: string): Promise<number[][]>;
}

export interface PiperG2pDeps {
  readonly espeak: Espeak;
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
  readonly marks: string;
}

/** Creates a converter for one voice. */
export function createPiperG2p({ espeak, phonemeIds }: PiperG2pDeps): PiperG2p {
  return {
    async phonemize(text) {
      const clauses = clausesOf(normalizeEnglish(text));
      const spoken = await speakClauses(espeak, clauses);
      return sentencesOf(clauses, spoken)
        .filter((sentence) => /\p{L}/u.test(sentence))
        .map((sentence) => idsOf(sentence, phonemeIds));
    },
  };
}

function clausesOf(text: string): Clause[] {
  const clauses: Clause[] = [];
  for (const [, words = '', marks = ''] of text.matchAll(/([^;:,.!?…—()“”]*)([;:,.!?…—()“”\s]*)/gu)) {
    if (words !== '' || marks !== '') clauses.push({ words: words.trim(), marks });
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
function sentencesOf(clauses: readonly Clause[], spoken: readonly string[]): string[] {
  const sentences: string[] = [];
  let sentence = '';
  clauses.forEach(({ marks }, i) => {
    const phonemes = (spoken[i] ?? '').replace(/\([a-z-]{2,8}\)/g, '');
    const kept = strongest([...marks].map((mark) => MARKS[mark] ?? mark));
    sentence += `${sentence === '' || phonemes === '' ? '' : ' '}${phonemes}${kept}`;
    if (!SENTENCE_END.test(marks)) return;
    sentences.push(sentence);
    sentence = '';
  });
  return [...sentences, sentence];
}

/** Reduces consecutive punctuation to one mark; a stop takes precedence over a comma. */
function strongest(marks: readonly string[]): string {
  return ['?', '!', '.', ';', ':', ','].find((mark) => marks.includes(mark)) ?? '';
}

/** Begin mark, each supported symbol followed by padding, end mark. Unsupported symbols are dropped. */
function idsOf(phonemes: string, phonemeIds: PhonemeIdMap): number[] {
  const pad = phonemeIds[PAD] ?? [];
  const ids = [...(phonemeIds[BEGIN] ?? []), ...pad];
  for (const symbol of phonemes) {
    for (const known of Object.hasOwn(phonemeIds, symbol) ? [symbol] : symbol.normalize('NFD')) {
      const own = Object.hasOwn(phonemeIds, known) ? phonemeIds[known] : undefined;
      if (own !== undefined) ids.push(...own, ...pad);
    }
  }
  return [...ids, ...(phonemeIds[END] ?? [])];
}
