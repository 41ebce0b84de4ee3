/** Phonemes of this service, and of misaki, with which Kokoro was trained. */

import { join } from 'node:path';
import { loadConfig } from '../../server/config.ts';
import { EspeakEngine } from '../../src/engines/espeak/host/engine.ts';
import { loadPhonemizer } from '../../src/engines/kokoro/worker/phonemizer.ts';
import { silentLog } from '../../tools/harness/doubles/doubles.ts';
import { runPeer } from '../python.ts';

const CORPUS = join(import.meta.dirname, '../corpus/phonemes');

interface MisakiLine {
  readonly text: string;
  readonly phonemes: string;
}

/** A sentence whose phonemes differ. */
export interface PhonemeDifference {
  readonly text: string;
  readonly ours: string;
  readonly misaki: string;
}

export interface ComparedPhonemes {
  readonly sentences: number;
  readonly words: number;
  /** Words in the sentences that differ, by the words between spaces. */
  readonly differentWords: number;
  readonly differences: readonly PhonemeDifference[];
}

/** Compares the sentences of bench/corpus/phonemes, and further ones. @param tag BCP 47 tag of a front end. */
export async function comparePhonemes(tag: string, further: readonly string[]): Promise<ComparedPhonemes> {
  const name = tag.startsWith('en') ? 'en' : tag;
  const corpus = (await Bun.file(join(CORPUS, `${name}.txt`)).text()).trim().split('\n');
  // misaki drops the danda, which this service reads as a full stop (docs/guide/languages.md).
  const texts = [...new Set([...corpus, ...further])].map((text) => text.replaceAll(/ ?।/gu, '.'));
  const peer = await runPeer<MisakiLine>(
    'languages/misaki_phonemes.py',
    [],
    JSON.stringify({ [tag]: texts }),
  );
  const { modelsDir } = loadConfig(process.env);
  const engine = new EspeakEngine({ modelsDir, environment: {}, log: silentLog });
  try {
    const phonemizer = await loadPhonemizer(modelsDir, (voice, clauses) => engine.phonemes(voice, clauses));
    const differences: PhonemeDifference[] = [];
    let [words, differentWords] = [0, 0];
    for (const { text, phonemes } of peer) {
      const misaki = comparable(phonemes, phonemizer.vocabulary);
      const ours = comparable((await phonemizer.phonemize(text, tag)).phonemes, phonemizer.vocabulary);
      const [expected, actual] = [misaki.split(' '), ours.split(' ')];
      words += expected.length;
      if (misaki === ours) continue;
      differentWords +=
        expected.length === actual.length
          ? expected.filter((word, i) => word !== actual[i]).length
          : Math.max(1, new Set(expected).difference(new Set(actual)).size);
      differences.push({ text, ours, misaki });
    }
    return { sentences: peer.length, words, differentWords, differences };
  } finally {
    await engine.close();
  }
}

/** Without what the model cannot read, and with `...` as one mark. */
function comparable(phonemes: string, vocabulary: { has(symbol: string): boolean }): string {
  return [...phonemes.replaceAll('...', '…')]
    .filter((symbol) => vocabulary.has(symbol))
    .join('')
    .replaceAll(/ +/g, ' ')
    .trim();
}
