import { createEspeakG2p } from '../espeak-g2p.ts';
import type { TextFrontEnd } from '../language.ts';
import { spokenWords } from '../rules/spoken-words.ts';
import { RULES } from './rules.ts';

const words = (text: string) => spokenWords(text, RULES);

export const french: TextFrontEnd = {
  language: 'fr',
  name: 'French',
  aliases: [],
  espeakVoice: 'fr',
  kokoroVoice: 'ff_siwis',
  kokoroAccent: {
    female: { name: 'ff_siwis', share: 0.8, pitchHz: 207 },
    // Kokoro has no male voice of French.
    male: { name: 'ff_siwis', share: 0.8, pitchHz: 207 },
  },
  words,
  openKokoroG2p: async ({ symbols, espeak }) => createEspeakG2p({ voice: 'fr', words, symbols, espeak }),
};
