/** Converts text to Kokoro's phonemes, with the dictionaries of the model cache. */

import { resolveModelFiles } from '../../../../models/model-files.ts';
import { espeakFallback, loadEspeak } from '../../../text/english/g2p/espeak.ts';
import { type Fallback, spellingFallback } from '../../../text/english/g2p/fallback.ts';
import { createKokoroG2p, type KokoroG2p } from '../../../text/english/g2p/kokoro-g2p.ts';
import { type Vocabulary, vocabularyOf } from '../../../text/english/g2p/kokoro-tokens.ts';
import { type Lexicon, loadLexicon } from '../../../text/english/g2p/lexicon.ts';

export interface KokoroPhonemizer {
  readonly vocabulary: Vocabulary;
  readonly g2p: KokoroG2p;
  /** Phonemes with punctuation; empty if the text contains nothing speakable. */
  readonly toPhonemes: (text: string) => Promise<string>;
}

/**
 * Loads the dictionaries and the fallback for unknown words. If eSpeak cannot be loaded, a warning is written to standard
 * error and unknown words are spelled letter by letter.
 * @throws Error with the name of the missing or damaged file.
 */
export async function loadPhonemizer(modelsDir: string, espeak = loadEspeak): Promise<KokoroPhonemizer> {
  const { 'config.json': config = '' } = resolveModelFiles(modelsDir, 'kokoro-vocabulary');
  const vocabulary = vocabularyOf((await Bun.file(config).json()).vocab);
  const files = resolveModelFiles(modelsDir, 'misaki-en-us');
  const lexicon = await loadLexicon(files['us_gold.json'] ?? '', files['us_silver.json'] ?? '');
  const g2p = createKokoroG2p({ lexicon, vocabulary, fallback: await fallbackFor(lexicon, espeak) });
  return { vocabulary, g2p, toPhonemes: async (text) => (await g2p.phonemize(text)).phonemes };
}

async function fallbackFor(lexicon: Lexicon, load: typeof loadEspeak): Promise<Fallback> {
  try {
    return espeakFallback(await load());
  } catch (error) {
    const name = error instanceof Error ? error.name : 'Error';
    process.stderr.write(`eSpeak could not be loaded (${name}): words outside the dictionary are spelled.\n`);
    return spellingFallback(lexicon);
  }
}
