import { describe, expect, test } from 'vitest';
import type { Espeak } from './espeak.ts';
import { createPiperG2p, type PhonemeIdMap } from './piper-g2p.ts';

/** Every character of the alphabet has its code as id. */
const phonemeIds: PhonemeIdMap = Object.fromEntries(
  [..."_^$ abcdefghijklmnopqrstuvwxyz.,;:!?'\u0327"].map((symbol) => [symbol, [symbol.codePointAt(0) ?? 0]]),
);
const echo: Espeak = async (text) => text.toLowerCase().split('.\n');

/** The ids back as text, pads shown as they are. */
async function written(text: string, espeak = echo): Promise<string[]> {
  const sentences = await createPiperG2p({ espeak, phonemeIds }).phonemize(text);
  return sentences.map((ids) => String.fromCodePoint(...ids));
}

const bare = (sentences: string[]) => sentences.map((sentence) => sentence.replaceAll('_', ''));

describe('piper ids', () => {
  test('begin, a pad after every symbol, end', async () => {
    expect(await written('Hi.')).toEqual(['^_h_i_._$']);
  });

  test('each sentence is framed on its own and keeps its marks', async () => {
    expect(bare(await written('One, two; three! Who? “Me” (yes) — so…'))).toEqual([
      '^one, two; three!$',
      '^who?$',
      '^me, yes, so.$',
    ]);
  });

  test('figures are read before eSpeak sees them', async () => {
    expect(bare(await written('It costs $5.'))).toEqual(['^it costs five dollars.$']);
  });

  test('one clause after the other when the lines do not match', async () => {
    const asked: string[] = [];
    const espeak: Espeak = async (text) => {
      asked.push(text);
      return text.includes('\n') ? ['all'] : [text.toLowerCase(), 'x'];
    };
    expect(bare(await written('a, b.', espeak))).toEqual(['^a x, b x.$']);
    expect(asked).toEqual(['a.\nb', 'a', 'b']);
  });

  test('symbols that the voice lacks are dropped, or decomposed where that helps', async () => {
    expect(bare(await written('a', async () => ['a✂ç(fr)b']))).toEqual(['^ac\u0327b$']);
  });

  test.each(['', '...', '日本語', '😀', '?!'])('nothing to say in %j', async (text) => {
    expect(await written(text)).toEqual([]);
  });
});
