import { createEspeakG2p } from '../espeak-g2p.ts';
import type { TextFrontEnd } from '../language.ts';
import { spokenWords } from '../rules/spoken-words.ts';
import { RULES } from './rules.ts';

const words = (text: string) => spokenWords(text, RULES);

export const spanish: TextFrontEnd = {
  language: 'es',
  name: 'Spanish',
  aliases: [],
  espeakVoice: 'es',
  kokoroVoice: 'ef_dora',
  kokoroAccent: {
    female: { name: 'ef_dora', share: 0.6, pitchHz: 174 },
    male: { name: 'em_alex', share: 0.6, pitchHz: 133 },
  },
  words,
  openKokoroG2p: async ({ symbols, espeak }) => createEspeakG2p({ voice: 'es', words, symbols, espeak }),
};
