import { createEspeakG2p } from '../espeak-g2p.ts';
import type { TextFrontEnd } from '../language.ts';
import { spokenWords } from '../rules/spoken-words.ts';
import { RULES } from './rules.ts';

const words = (text: string) => spokenWords(text, RULES);

export const italian: TextFrontEnd = {
  language: 'it',
  name: 'Italian',
  aliases: [],
  espeakVoice: 'it',
  kokoroVoice: 'if_sara',
  kokoroAccent: {
    female: { name: 'if_sara', share: 1 },
    male: { name: 'im_nicola', share: 0.5, pitchHz: 105 },
  },
  words,
  openKokoroG2p: async ({ symbols, espeak }) => createEspeakG2p({ voice: 'it', words, symbols, espeak }),
};
