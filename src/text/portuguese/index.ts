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
  words,
  openKokoroG2p: async ({ symbols, espeak }) => createEspeakG2p({ voice: 'pt-br', words, symbols, espeak }),
};
