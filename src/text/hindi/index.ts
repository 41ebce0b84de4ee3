import { createEspeakG2p } from '../espeak-g2p.ts';
import type { TextFrontEnd } from '../language.ts';
import { spokenWords } from '../rules/spoken-words.ts';
import { RULES } from './rules.ts';

const words = (text: string) => spokenWords(text, RULES);

export const hindi: TextFrontEnd = {
  language: 'hi',
  name: 'Hindi',
  aliases: [],
  letters: /\p{Script=Devanagari}/gu,
  espeakVoice: 'hi',
  kokoroVoice: 'hf_alpha',
  words,
  openKokoroG2p: async ({ symbols, espeak }) => createEspeakG2p({ voice: 'hi', words, symbols, espeak }),
};
