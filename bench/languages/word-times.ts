/** Times of spoken words compared with those of a forced aligner. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../server/config.ts';
import type { SpokenWord } from '../../src/contract/engines/engine.ts';
import { EspeakEngine } from '../../src/engines/espeak/host/engine.ts';
import { loadPhonemizer } from '../../src/engines/kokoro/worker/phonemizer.ts';
import { silentLog } from '../../tools/harness/doubles/doubles.ts';
import { writeWav } from '../corpus/wav-file.ts';
import { runPeer } from '../python.ts';
import type { SpokenAudio } from './round-trip.ts';

/**
 * Languages whose sounds the aligner for Japanese has: exactly those of Japanese, and for Spanish and Italian the most similar ones,
 * which is enough to find where a known sequence of them starts and ends.
 */
export type AlignedLanguage = 'ja' | 'es' | 'it';

/** Phonemes of the aligner by symbols of Kokoro; several symbols can be one phoneme. */
const PHONEMES: Readonly<Record<string, string>> = {
  a: 'a',
  i: 'i',
  ɯ: 'u',
  ɨ: 'u',
  e: 'e',
  o: 'o',
  k: 'k',
  ɡ: 'g',
  s: 's',
  z: 'z',
  ʣ: 'z',
  ɕ: 'sh',
  ʥ: 'j',
  t: 't',
  d: 'd',
  ʨ: 'ch',
  ʦ: 'ts',
  n: 'n',
  ɲ: 'n',
  ɴ: 'n',
  ŋ: 'n',
  m: 'm',
  h: 'h',
  ç: 'hy',
  ɸ: 'f',
  b: 'b',
  p: 'p',
  j: 'y',
  ɾ: 'r',
  β: 'w',
  v: 'v',
  ʔ: 'cl',
};
const ROMANCE: Readonly<Record<string, string>> = {
  ...PHONEMES,
  u: 'u',
  ɛ: 'e',
  ɔ: 'o',
  ɪ: 'i',
  ʊ: 'u',
  A: 'e',
  W: 'a',
  I: 'a',
  w: 'w',
  β: 'b',
  ð: 'd',
  ɣ: 'g',
  θ: 's',
  x: 'h',
  f: 'f',
  l: 'r',
  r: 'r',
  ʎ: 'ry',
  ɲ: 'ny',
  ʝ: 'y',
  ʃ: 'sh',
  ʧ: 'ch',
  ʤ: 'j',
};
/** Consonants that the aligner has with a palatal sound of their own before `a`, `u` and `o`. */
const PALATALS = new Set(['b', 'd', 'g', 'k', 'm', 'n', 'p', 'r', 't']);

/** A phoneme for the aligner, and the position in the text of its word. */
interface AlignedPhoneme {
  readonly name: string;
  readonly source: number;
}

interface AlignedLine {
  readonly path: string;
  /** Phoneme, start and end in ms; pauses are `pau`. */
  readonly times: readonly (readonly [string, number, number])[];
}

/** A boundary of a word: what this service reports, less what the aligner finds. */
export interface BoundaryError {
  readonly kind: 'start' | 'end';
  readonly ms: number;
}

/**
 * Compares the times of words. A text whose phonemes the aligner cannot match is left out.
 * @param spoken audio by text.
 */
export async function alignedWordErrors(
  language: AlignedLanguage,
  spoken: ReadonlyMap<string, SpokenAudio>,
): Promise<readonly BoundaryError[]> {
  const { modelsDir } = loadConfig({});
  const engine = new EspeakEngine({ modelsDir, environment: {}, log: silentLog });
  const phonemizer = await loadPhonemizer(modelsDir, (voice, clauses) => engine.phonemes(voice, clauses));
  const alignable = language === 'ja' ? japanesePhonemes : romancePhonemes;
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    const jobs: { path: string; phonemes: readonly AlignedPhoneme[]; words: readonly SpokenWord[] }[] = [];
    for (const [text, { samples, words }] of spoken) {
      const path = join(folder, `${jobs.length}.wav`);
      await writeWav(path, samples);
      const { phonemes, sources } = await phonemizer.phonemize(text, language);
      jobs.push({ path, phonemes: alignable([...phonemes], sources), words });
    }
    const input = jobs.map(({ path, phonemes }) => ({ path, phonemes: phonemes.map(({ name }) => name) }));
    const lines = await runPeer<AlignedLine>('languages/align_japanese.py', [], JSON.stringify(input));
    return lines.flatMap(({ times }, index) => {
      const { phonemes = [], words = [] } = jobs[index] ?? {};
      return errorsOf(
        words,
        phonemes,
        times.filter(([name]) => name !== 'pau'),
      );
    });
  } finally {
    rmSync(folder, { recursive: true });
    await engine.close();
  }
}

type Alignable = (symbols: readonly string[], sources: readonly (number | undefined)[]) => AlignedPhoneme[];

const romancePhonemes: Alignable = (symbols, sources) =>
  symbols.flatMap((symbol, index) => {
    const name = ROMANCE[symbol];
    const source = sources[index];
    return name === undefined || source === undefined ? [] : [{ name, source }];
  });

const japanesePhonemes: Alignable = (symbols, sources) => {
  const phonemes: AlignedPhoneme[] = [];
  for (const [index, symbol] of symbols.entries()) {
    const source = sources[index];
    if (source === undefined) continue;
    const last = phonemes.at(-1);
    if (symbol === 'ː' && last !== undefined) phonemes.push({ ...last, source });
    const isBeforeI = symbols[index + 1] === 'i';
    if (symbol === 'ʲ' && last !== undefined && !isBeforeI && PALATALS.has(last.name)) {
      phonemes.splice(-1, 1, { ...last, name: `${last.name}y` });
    }
    const palatal = symbol === 'ɲ' && !isBeforeI ? 'ny' : undefined;
    const name = palatal ?? (symbol === 'ç' && isBeforeI ? 'h' : PHONEMES[symbol]);
    if (name !== undefined) phonemes.push({ name, source });
  }
  return phonemes;
};

/** Only words whose phonemes the aligner found in full count. */
function errorsOf(
  words: readonly SpokenWord[],
  phonemes: readonly AlignedPhoneme[],
  times: AlignedLine['times'],
): BoundaryError[] {
  if (times.length !== phonemes.length) return [];
  const errors: BoundaryError[] = [];
  let at = 0;
  for (const { text, startMs, endMs } of words) {
    const [from, to] = [at, at + text.length];
    at = to;
    const own = times.filter((_, index) => {
      const source = phonemes[index]?.source ?? -1;
      return source >= from && source < to;
    });
    const [, start] = own[0] ?? [];
    const [, , end] = own.at(-1) ?? [];
    if (start === undefined || end === undefined) continue;
    errors.push({ kind: 'start', ms: startMs - start }, { kind: 'end', ms: endMs - end });
  }
  return errors;
}
