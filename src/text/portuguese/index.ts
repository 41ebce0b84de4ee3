import { createEspeakG2p } from '../espeak-g2p.ts';
import type { TextFrontEnd } from '../language.ts';
import { spokenWords } from '../rules/spoken-words.ts';
import { RULES } from './rules.ts';

const words = (text: string) => spokenWords(text, RULES);

export const brazilianPortuguese: TextFrontEnd = {
  language: 'pt-BR',
  name: 'Portuguese (Brazil)',
  aliases: ['pt'],
  espeakVoice: 'pt-br',
  kokoroVoice: 'pf_dora',
  kokoroAccent: {
    female: { name: 'pf_dora', share: 0.4, pitchHz: 175 },
    male: { name: 'pm_alex', share: 0.4, pitchHz: 132 },
  },
  words,
  openKokoroG2p: async ({ symbols, espeak }) => createEspeakG2p({ voice: 'pt-br', words, symbols, espeak }),
};
