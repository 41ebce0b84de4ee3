import { describe, expect, test } from 'vitest';
import { createEspeakG2p, kokoroSounds } from './espeak-g2p.ts';
import type { EspeakNg, SpokenFormWord } from './language.ts';

const SYMBOLS = new Set([...'abcdefghijklmnopqrstuvwxyzˈˌ;:,.!?—…"()“” ʣʤʦʧAIOQSWY']);

const words = (text: string): SpokenFormWord[] =>
  Array.from(text.matchAll(/\S+/gu), ({ 0: word, index }) => ({ text: word, source: index }));

function converter(espeak: EspeakNg = async (_, clauses) => clauses) {
  const asked: (readonly string[])[] = [];
  const recorded: EspeakNg = async (voice, clauses) => {
    asked.push(clauses);
    return await espeak(voice, clauses);
  };
  const g2p = createEspeakG2p({ voice: 'es', words, symbols: SYMBOLS, espeak: recorded });
  return { asked, phonemize: (text: string) => g2p.phonemize(text) };
}

describe('sounds', () => {
  test.each([
    ['t^ʃˈa^ʊ', 'ʧˈW'],
    ['d^ʒˈe^ɪ t^sd^z', 'ʤˈA ʦʣ'],
    ['s^sˈo^ʊ ə^ʊɔ^ɪa^ɪ', 'SˈO QYI'],
    ['k^x-a', 'kxa'],
  ])('%s is %s', (ipa, sounds) => expect(kokoroSounds(ipa)).toBe(sounds));
});

describe('a text', () => {
  test('is split at punctuation, which stays', async () => {
    const { asked, phonemize } = converter();
    expect((await phonemize('¿hola, que tal? «muy bien» (si) [no] {x}…')).phonemes).toBe(
      'hola, que tal? “muy bien” (si) (no) (x)…',
    );
    expect(asked).toEqual([['hola', 'que tal', 'muy bien', 'si', 'no', 'x']]);
  });

  test('has the position of its word for each symbol', async () => {
    const { phonemize } = converter(async (_, clauses) =>
      clauses.map((clause) => clause.replace('de la', 'dela')),
    );
    const { phonemes, sources } = await phonemize('fin de la vida');
    expect(phonemes).toBe('fin dela vida');
    expect(sources).toEqual([0, 0, 0, undefined, 4, 4, 7, 7, undefined, 10, 10, 10, 10]);
  });

  test.each(['', '...', '?!', '¿?', '—'])('%j has no phonemes', async (text) => {
    const { asked, phonemize } = converter();
    expect(await phonemize(text)).toEqual({ phonemes: '', sources: [] });
    expect(asked).toEqual([]);
  });

  test('of any length is sent in short clauses and requests', async () => {
    const { asked, phonemize } = converter();
    const text = 'palabra '.repeat(3000).trim();
    expect((await phonemize(text)).phonemes).toBe(text);
    expect(asked.length).toBeGreaterThan(1);
    for (const clauses of asked) {
      expect(clauses.join('').length).toBeLessThanOrEqual(8000);
      for (const clause of clauses) expect(clause.length).toBeLessThanOrEqual(410);
    }
  });

  test('has words in other scripts, each by the rules of a language of its script', async () => {
    const { asked, phonemize } = converter(async (voice, clauses) =>
      clauses.map((clause) => (/[a-z]/.test(clause) ? clause : voice)),
    );
    const text = 'dice Привет y ありがとう, 你好 o नमस्ते';
    const { phonemes, sources } = await phonemize(text);
    expect(phonemes).toBe('dice ru y aiato, cmn o hi');
    expect(asked).toEqual([['dice', 'y', 'o'], ['Привет'], ['你好'], ['नमस्ते']]);
    expect([...new Set(sources.filter((source) => source !== undefined))]).toEqual([
      0, 5, 12, 14, 21, 24, 26,
    ]);
  });

  test('fails with the error of eSpeak', async () => {
    const { phonemize } = converter(() => Promise.reject(new Error('down')));
    await expect(phonemize('hola')).rejects.toThrow('down');
  });
});
