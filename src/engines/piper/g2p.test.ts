import { describe, expect, test } from 'vitest';
import type { Espeak } from '../../text/espeak.ts';
import { DEFAULT_LANGUAGE, requireFrontEnd } from '../../text/front-end.ts';
import { createPiperG2p, type PhonemeIdMap } from './g2p.ts';

const { words } = requireFrontEnd(DEFAULT_LANGUAGE);
/** The id of every character of the alphabet is its character code. */
const phonemeIds: PhonemeIdMap = Object.fromEntries(
  [..."_^$ abcdefghijklmnopqrstuvwxyz.,;:!?'\u0327"].map((symbol) => [symbol, [symbol.codePointAt(0) ?? 0]]),
);
const echo: Espeak = async (text) => text.toLowerCase().split('.\n');

/** Converts the ids back to text, with visible padding. */
async function written(text: string, espeak = echo): Promise<string[]> {
  const sentences = await createPiperG2p({ espeak, words, phonemeIds }).phonemize(text);
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

  test.each(['', '...', '日本語', '😀', '?!'])('no ids for %j', async (text) => {
    expect(await written(text)).toEqual([]);
  });
});
