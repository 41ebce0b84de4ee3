/** Mandarin: words by jieba, pinyin by pinyin-pro, phonemes as by misaki. */

import type { TextFrontEnd } from '../language.ts';
import { applyRules, wordsOf } from '../rules/spoken-words.ts';
import { RULES } from './rules.ts';

const spoken = (text: string) => applyRules(text, RULES);

export const mandarin: TextFrontEnd = {
  language: 'zh',
  name: 'Chinese (Mandarin)',
  aliases: ['cmn'],
  letters: /\p{Script=Han}/gu,
  espeakVoice: 'cmn',
  kokoroVoice: 'zf_xiaobei',
  kokoroAccent: {
    female: { name: 'zf_xiaobei', share: 0.4, pitchHz: 244 },
    male: { name: 'zm_yunxi', share: 0.4, pitchHz: 168 },
  },
  words: (text) => wordsOf(spoken(text)),
  async openKokoroG2p({ symbols, english, espeak }) {
    // With the first text, because the dictionary is large.
    const [{ openDictionary }, { createMandarinG2p }] = await Promise.all([
      import('./dictionary.ts'),
      import('./g2p.ts'),
    ]);
    return createMandarinG2p({ spoken, wordsOf: openDictionary(), symbols, english, espeak });
  },
};
