/** Converts text to Kokoro's phonemes, with the dictionaries of the model cache. */

import type { GivenSounds } from '../../../contract/engines/engine.ts';
import { resolveModelFiles } from '../../../models/model-files.ts';
import {
  DEFAULT_LANGUAGE,
  type EspeakNg,
  type G2p,
  type G2pResources,
  openKokoroG2p,
  type Pronunciation,
  scriptParts,
} from '../../../text/front-end.ts';
import { symbolsOfIpa } from '../shared/ipa.ts';
import { type Vocabulary, vocabularyOf } from '../shared/tokens.ts';
import { phonemesWithGiven } from './given-sounds.ts';

export interface KokoroPhonemizer {
  readonly vocabulary: Vocabulary;
  /**
   * Phonemes with punctuation; empty if the text contains nothing speakable.
   * @param language of a front end. Parts in another script are read in a language of that script.
   * @param given words whose sounds are given.
   * @throws Error if a dictionary is missing or eSpeak cannot answer.
   */
  phonemize(text: string, language: string, given?: readonly GivenSounds[]): Promise<Pronunciation>;
}

/**
 * Loads the vocabulary and American English. The other languages are loaded with their first text.
 * @param espeak absent: only American English is complete.
 * @throws Error with the name of the missing or damaged file.
 */
export async function loadPhonemizer(
  modelsDir: string,
  espeak: EspeakNg = unavailable,
): Promise<KokoroPhonemizer> {
  const { 'config.json': config = '' } = resolveModelFiles(modelsDir, 'kokoro-vocabulary');
  const vocabulary = vocabularyOf((await Bun.file(config).json()).vocab);
  const resources: G2pResources = {
    symbols: vocabulary,
    files: (entry: string) => resolveModelFiles(modelsDir, entry),
    espeak,
    english: () => g2pOf(DEFAULT_LANGUAGE),
  };
  /** By language; at most the number of front ends and of scripts. */
  const opened = new Map<string, Promise<G2p>>();
  const g2pOf = (language: string): Promise<G2p> => {
    const existing = opened.get(language);
    if (existing !== undefined) return existing;
    const opening = openKokoroG2p(language, resources);
    opened.set(language, opening);
    // The next text tries again.
    opening.catch(() => opened.delete(language));
    return opening;
  };
  await g2pOf(DEFAULT_LANGUAGE);
  return {
    vocabulary,
    async phonemize(text, language, given = []) {
      const phonemize = (piece: string) => phonemesByScript(piece, language, g2pOf);
      if (given.length === 0) return await phonemize(text);
      return await phonemesWithGiven(text, given, {
        phonemize,
        symbolsOf: (ipa) => symbolsOfIpa(ipa, language, vocabulary),
      });
    },
  };
}

/** Phonemes of a text, whose parts in other scripts are read in the languages of these scripts. */
async function phonemesByScript(
  text: string,
  language: string,
  g2pOf: (language: string) => Promise<G2p>,
): Promise<Pronunciation> {
  let phonemes = '';
  const sources: (number | undefined)[] = [];
  for (const part of scriptParts(text, language)) {
    const spoken = await (await g2pOf(part.language)).phonemize(part.text);
    if (spoken.phonemes === '') continue;
    if (phonemes !== '') {
      phonemes += ' ';
      sources.push(undefined);
    }
    phonemes += spoken.phonemes;
    for (const source of spoken.sources) sources.push(source === undefined ? undefined : part.start + source);
  }
  return { phonemes, sources };
}

async function unavailable(): Promise<never> {
  throw new Error('The phonemizer was loaded without eSpeak NG.');
}
