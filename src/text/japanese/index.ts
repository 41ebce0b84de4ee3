/** Japanese: the dictionary UniDic gives the readings. */

import { readFile } from 'node:fs/promises';
import type { TextFrontEnd } from '../language.ts';
import { applyRules, spokenWords } from '../rules/spoken-words.ts';
import { Dictionary } from './dictionary.ts';
import { createJapaneseG2p } from './kokoro-g2p.ts';
import { RULES } from './rules.ts';

export const japanese: TextFrontEnd = {
  language: 'ja',
  name: 'Japanese',
  aliases: [],
  letters: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/gu,
  espeakVoice: 'ja',
  kokoroVoice: 'jf_alpha',
  kokoroAccent: {
    female: { name: 'jf_gongitsune', share: 0.5, pitchHz: 237 },
    male: { name: 'jm_kumo', share: 0.5, pitchHz: 95 },
  },
  words: (text) => spokenWords(text, RULES),
  async openKokoroG2p({ symbols, files, espeak }) {
    const unidic = files('unidic-lite');
    const dictionary = new Dictionary({
      words: unidic['sys.dic'] ?? '',
      unknown: unidic['unk.dic'] ?? '',
      characters: unidic['char.bin'] ?? '',
      connections: unidic['matrix.bin'] ?? '',
    });
    const list = await readFile(files('misaki-ja')['ja_words.txt'] ?? '', 'utf8');
    const compounds = new Set(list.split('\n'));
    const read = (text: string) => applyRules(text, RULES);
    return createJapaneseG2p({ dictionary, compounds, read, symbols, espeak });
  },
};
