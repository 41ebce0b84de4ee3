import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import extract from '../fixtures/lexicon-extract.json' with { type: 'json' };
import { type Dictionary, Lexicon, loadLexicon, type Tag, type WordContext } from './lexicon.ts';

const lexicon = new Lexicon(extract.gold as Dictionary, extract.silver as Dictionary);

function context(parts: { tags?: readonly Tag[]; futureVowel?: boolean; futureTo?: boolean }): WordContext {
  return { tags: parts.tags ?? [], futureVowel: parts.futureVowel, futureTo: parts.futureTo ?? false };
}

describe('lists', () => {
  test('a word is found as written, or with the other case of its first letter', () => {
    expect(lexicon.has('hello')).toBe(true);
    expect(lexicon.has('Hello')).toBe(true);
    expect(lexicon.has('hELLO')).toBe(false);
    expect(lexicon.phonemes('hello')).toBe('həlˈO');
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('%s is not a word', (word) => {
    expect(lexicon.has(word)).toBe(false);
    expect(lexicon.phonemes(word)).toBeUndefined();
  });

  test('an unknown word has no phonemes', () => expect(lexicon.phonemes('xyzzy')).toBeUndefined());

  test('has names that are not in the word lists', () => {
    expect(lexicon.has('iPhone')).toBe(true);
    expect(lexicon.phonemes('JSON')).toBe('ʤˈAsᵊn');
  });

  test('loads from files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lexicon-'));
    const [gold, silver] = [join(folder, 'gold.json'), join(folder, 'silver.json')];
    await writeFile(gold, '{"cat":"kˈæt"}');
    await writeFile(silver, '{"catty":"kˈæɾi"}');
    const loaded = await loadLexicon(gold, silver);
    expect([loaded.phonemes('cat'), loaded.phonemes('catty')]).toEqual(['kˈæt', 'kˈæɾi']);
    await rm(folder, { recursive: true });
  });
});

describe('case', () => {
  test.each([
    ['FBI', ['NNP'], 'ˌɛfbˌiˈI'],
    ['NASA', ['NNP'], 'nˈæsə'],
    ['US', ['NNP'], 'jˌuˈɛs'],
    ['US', [], 'ˈʌs'],
    ['IT', ['NNP'], 'ˌItˈi'],
    ['STOP', [], 'stˈɑp'],
    ['OR', ['NOUN'], 'ˈɔɹ'],
    ['GPUs', [], 'ʤˌipˌijˈuz'],
    ['B', [], 'bˈi'],
  ] as [string, Tag[], string][])('%s as %j', (word, tags, phonemes) => {
    expect(lexicon.phonemes(word, context({ tags, futureVowel: false }))).toBe(phonemes);
  });

  test('letters are spelled with the stress on the last', () => {
    expect(lexicon.spelled('abc')).toBe('ˌAbˌisˈi');
    expect(lexicon.spelled('é')).toBeUndefined();
  });
});

describe('endings', () => {
  const small = new Lexicon(
    {
      walk: 'wˈɔk',
      tag: 'tˈæɡ',
      wait: 'wˈAt',
      try: 'tɹˈI',
      box: 'bˈɑks',
      make: 'mˈAk',
      boss: 'bˈɔs',
      need: 'nˈid',
    },
    {},
  );
  test.each([
    ['walks', 'wˈɔks'],
    ['walked', 'wˈɔkt'],
    ['walking', 'wˈɔkɪŋ'],
    ['Walking', 'wˈɔkɪŋ'],
    ['tagged', 'tˈæɡd'],
    ['tagging', 'tˈæɡɪŋ'],
    ['waited', 'wˈAɾᵻd'],
    ['waiting', 'wˈAɾɪŋ'],
    ['tries', 'tɹˈIz'],
    ['boxes', 'bˈɑksᵻz'],
    ['making', 'mˈAkɪŋ'],
    ["walk's", 'wˈɔks'],
    ["boss's", 'bˈɔsᵻz'],
    ["walks'", 'wˈɔks'],
    ['needed', 'nˈidᵻd'],
  ])('%s', (word, phonemes) => expect(small.phonemes(word)).toBe(phonemes));

  test.each(['walkly', 'ss', 'ed', 'ing', 'sing', "'s", "'"])('%s has no known stem', (word) => {
    expect(small.phonemes(word)).toBeUndefined();
  });
});

describe('weak forms', () => {
  test.each([
    ['the', { futureVowel: true }, 'ði'],
    ['the', { futureVowel: false }, 'ðə'],
    ['to', { futureVowel: true }, 'tʊ'],
    ['to', { futureVowel: false }, 'tə'],
    ['to', {}, 'tu'],
    ['a', { tags: ['DT'] }, 'ɐ'],
    ['A', { tags: ['NNP'] }, 'ˈA'],
    ['an', {}, 'ɐn'],
    ['in', { futureVowel: false }, 'ɪn'],
    ['in', {}, 'ˈɪn'],
    ['in', { futureVowel: true, tags: ['ADV'] }, 'ˈɪn'],
    ['by', { futureVowel: false, tags: ['ADV'] }, 'bˈI'],
    ['by', { futureVowel: false }, 'bI'],
    ['am', { futureVowel: false }, 'ɐm'],
    ['am', {}, 'æm'],
    ['used', { futureVowel: false, futureTo: true, tags: ['VBD'] }, 'jˈust'],
    ['used', { futureVowel: false, tags: ['VBD'] }, 'jˈuzd'],
    ['can', {}, 'kˈæn'],
    ['can', { futureVowel: false }, 'kæn'],
  ] as [string, Parameters<typeof context>[0], string][])('%s in %j', (word, parts, phonemes) => {
    expect(lexicon.phonemes(word, context(parts))).toBe(phonemes);
  });
});
