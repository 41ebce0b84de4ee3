import { describe, expect, test } from 'vitest';
import type { Espeak } from '../../text/espeak.ts';
import { DEFAULT_LANGUAGE, requireFrontEnd, wordsIn } from '../../text/front-end.ts';
import { createPiperG2p, type PhonemeIdMap, phonemesInOneCall } from './g2p.ts';

const { words } = requireFrontEnd(DEFAULT_LANGUAGE);
/** The id of every character of the alphabet is its character code. */
const phonemeIds: PhonemeIdMap = Object.fromEntries(
  [..."_^$ abcdefghijklmnopqrstuvwxyz.,;:!?'\u0327"].map((symbol) => [symbol, [symbol.codePointAt(0) ?? 0]]),
);
const echo: Espeak = async (text) => text.toLowerCase().split('.\n');

/** Converts the ids back to text, with visible padding. */
async function written(text: string, espeak = echo): Promise<string[]> {
  const sentences = await createPiperG2p({
    phonemes: phonemesInOneCall(espeak),
    words,
    phonemeIds,
  }).phonemize(text);
  return sentences.map(({ ids }) => String.fromCodePoint(...ids));
}

const bare = (sentences: string[]) => sentences.map((sentence) => sentence.replaceAll('_', ''));

describe('piper ids', () => {
  test('have a begin mark, padding after every symbol, and an end mark', async () => {
    expect(await written('Hi.')).toEqual(['^_h_i_._$']);
  });

  test('frame each sentence separately and keep its punctuation', async () => {
    expect(bare(await written('One, two; three! Who? “Me” (yes) — so…'))).toEqual([
      '^one, two; three!$',
      '^who?$',
      '^me, yes, so.$',
    ]);
  });

  test('are based on normalized numbers', async () => {
    expect(bare(await written('It costs $5.'))).toEqual(['^it costs five dollars.$']);
  });

  test('are requested per clause if the lines do not match', async () => {
    const asked: string[] = [];
    const espeak: Espeak = async (text) => {
      asked.push(text);
      return text.includes('\n') ? ['all'] : [text.toLowerCase(), 'x'];
    };
    expect(bare(await written('a, b.', espeak))).toEqual(['^a x, b x.$']);
    expect(asked).toEqual(['a.\nb', 'a', 'b']);
  });

  test('omit unsupported symbols, or decompose them where possible', async () => {
    expect(bare(await written('a', async () => ['a✂ç(fr)b']))).toEqual(['^ac\u0327b$']);
  });

  test('of words as written keep numbers, times and abbreviations, and know the marks of other scripts', async () => {
    const asked: string[] = [];
    const g2p = createPiperG2p({
      phonemes: async (clauses) => {
        asked.push(...clauses);
        return clauses.map((clause) => clause.toLowerCase());
      },
      words: wordsIn('de'),
      phonemeIds,
    });
    const text = '„Um 12:30“ z.B. für 1.234,50 €; am 3. Mai? هل؟ राम। ok';
    const sentences = await g2p.phonemize(text);
    expect(asked).toEqual(['Um 12:30', 'z.B. für 1.234,50 €', 'am 3. mai', 'هل', 'राम', 'ok']);
    expect(sentences).toHaveLength(4);
    const sources = sentences[0]?.sources().filter((source) => source !== undefined);
    expect([...new Set(sources)]).toEqual([0, 4, 11, 16, 20, 32, 35, 38]);
  });

  test('are those of decomposed symbols, as in the training of the voices', async () => {
    const both: PhonemeIdMap = { '^': [1], $: [2], _: [0], ç: [16], c: [17], '\u0327': [140] };
    const idsOf = async (map: PhonemeIdMap) => {
      const g2p = createPiperG2p({ phonemes: async () => ['ç'], words, phonemeIds: map });
      const [sentence] = await g2p.phonemize('a');
      return sentence?.ids.filter((id) => id > 2);
    };
    expect(await idsOf(both)).toEqual([17, 140]);
    expect(await idsOf({ '^': [1], $: [2], _: [0], ç: [16] })).toEqual([16]);
  });

  describe('of given sounds', () => {
    const text = 'Say Worcester, then (leave) now.';
    const given = [
      { start: 4, end: 13, ipa: 'wusta' },
      { start: 21, end: 26, ipa: 'liv' },
    ];
    const read = async (soundsOf: ((ipa: string) => string) | undefined, joins = false) => {
      const asked: string[] = [];
      const g2p = createPiperG2p({
        phonemes: async (clauses) => {
          asked.push(...clauses);
          return clauses.map((clause) => {
            const spoken = clause.toLowerCase();
            return joins ? spoken.replace('say w', 'sayw') : spoken;
          });
        },
        words,
        phonemeIds,
        soundsOf,
      });
      const sentences = await g2p.phonemize(text, given);
      return { asked, sentences };
    };
    const withSounds = '^say wusta, then, liv, now.$';

    test('replace those of eSpeak, and keep the marks and the positions', async () => {
      const { asked, sentences } = await read((ipa) => ipa);
      expect(bare(sentences.map(({ ids }) => String.fromCodePoint(...ids)))).toEqual([withSounds]);
      expect(asked).toEqual(['Say Worcester', 'then', 'leave', 'now']);
      const sources = sentences[0]?.sources().filter((source) => source !== undefined);
      expect([...new Set(sources)]).toEqual([0, 4, 15, 21, 28]);
    });

    test('replace them where eSpeak joins words', async () => {
      const { asked, sentences } = await read((ipa) => ipa, true);
      expect(bare(sentences.map(({ ids }) => String.fromCodePoint(...ids)))).toEqual([withSounds]);
      expect(asked).toEqual(['Say Worcester', 'then', 'leave', 'now', 'Say']);
      const sources = sentences[0]?.sources().filter((source) => source !== undefined);
      expect([...new Set(sources)]).toEqual([0, 4, 15, 21, 28]);
    });

    test('may be those of a part of a word, and of several words', async () => {
      const g2p = createPiperG2p({
        phonemes: async (clauses) => clauses.map((clause) => clause.toLowerCase()),
        words: wordsIn('de'),
        phonemeIds,
        soundsOf: (ipa) => ipa,
      });
      const [sentence] = await g2p.phonemize('vor New York-Reise', [{ start: 4, end: 12, ipa: 'nu jok' }]);
      expect(bare([String.fromCodePoint(...(sentence?.ids ?? []))])).toEqual(['^vor nu jok reise$']);
      const sources = sentence?.sources().filter((source) => source !== undefined);
      expect([...new Set(sources)]).toEqual([0, 4, 12]);
    });

    test.each([
      ['no symbol of the voice', () => '字'],
      ['no sounds', () => ''],
      ['a voice of letters', undefined],
    ])('are not used with %s', async (_, soundsOf) => {
      const { sentences } = await read(soundsOf);
      expect(bare(sentences.map(({ ids }) => String.fromCodePoint(...ids)))).toEqual([
        '^say worcester, then, leave, now.$',
      ]);
    });

    test('may be the whole text', async () => {
      const g2p = createPiperG2p({ phonemes: async () => [], words, phonemeIds, soundsOf: (ipa) => ipa });
      const [sentence] = await g2p.phonemize('Hm', [{ start: 0, end: 2, ipa: 'hm' }]);
      expect(bare([String.fromCodePoint(...(sentence?.ids ?? []))])).toEqual(['^hm$']);
    });
  });

  test.each(['', '...', '日本語', '😀', '?!'])('no ids for %j', async (text) => {
    expect(await written(text)).toEqual([]);
  });
});
