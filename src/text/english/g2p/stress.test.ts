import { describe, expect, test } from 'vitest';
import {
  applyStress,
  isConsonant,
  isVowel,
  joinCompound,
  stressWeight,
  withEd,
  withIng,
  withS,
} from './stress.ts';

describe('endings', () => {
  test.each([
    ['kˈæt', 'kˈæts'],
    ['dˈɔɡ', 'dˈɔɡz'],
    ['hˈɔɹs', 'hˈɔɹsᵻz'],
    ['ʧˈɜɹʧ', 'ʧˈɜɹʧᵻz'],
    ['bˈAʒ', 'bˈAʒᵻz'],
    ['mˈɪθ', 'mˈɪθs'],
  ])('-s on %s', (stem, word) => expect(withS(stem)).toBe(word));

  test.each([
    ['wˈɔk', 'wˈɔkt'],
    ['plˈA', 'plˈAd'],
    ['nˈid', 'nˈidᵻd'],
    ['wˈAt', 'wˈAɾᵻd'],
    ['lˈæst', 'lˈæstᵻd'],
    ['wˈɑʧ', 'wˈɑʧt'],
  ])('-ed on %s', (stem, word) => expect(withEd(stem)).toBe(word));

  test.each([
    ['wˈɔk', 'wˈɔkɪŋ'],
    ['wˈAt', 'wˈAɾɪŋ'],
    ['lˈæst', 'lˈæstɪŋ'],
  ])('-ing on %s', (stem, word) => expect(withIng(stem)).toBe(word));
});

describe('stress', () => {
  test.each([
    ['hˈɛlˌO', undefined, 'hˈɛlˌO'],
    ['hˈɛlˌO', -2, 'hɛlO'],
    ['hˈɛlˌO', -1, 'hˌɛlO'],
    ['hˈɛlO', 0, 'hˌɛlO'],
    ['hˈɛlO', -0.5, 'hˌɛlO'],
    ['ænd', 0.5, 'ˌænd'],
    ['ðæt', 2, 'ðˈæt'],
    ['ænd', -0.5, 'ænd'],
    ['ʃˌi', 1, 'ʃˈi'],
    ['ʃˌi', 0.5, 'ʃˌi'],
    ['hm', 2, 'hm'],
    ['hˈɛl', 2, 'hˈɛl'],
  ])('%s at level %s', (phonemes, level, result) => expect(applyStress(phonemes, level)).toBe(result));

  test('long vowels and affricates weigh two', () => expect(stressWeight('ʧAt')).toBe(5));

  test('distinguishes vowels from consonants and marks', () => {
    expect([isVowel('A'), isVowel('t'), isConsonant('t'), isConsonant('ˈ')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});

describe('compounds', () => {
  const part = (letters: string, phonemes: string) => ({ letters, phonemes });

  test('the lighter half loses its primary stress', () => {
    expect(joinCompound([part('well', 'wˈɛl'), part('known', 'nˈOn')])).toBe('wˌɛlnˈOn');
  });

  test('a single letter keeps the primary stress', () => {
    expect(joinCompound([part('B', 'bˈi'), part('list', 'lˈɪst')])).toBe('bˈilˌɪst');
  });

  test('unstressed parts change nothing', () => {
    const parts = [part('state', 'stˈAt'), part('of', 'ʌv'), part('the', 'ði'), part('art', 'ˈɑɹt')];
    expect(joinCompound(parts)).toBe('stˈAtʌvðiˈɑɹt');
  });

  test('parts without sound are omitted', () => {
    expect(joinCompound([part('日', ''), part('list', 'lˈɪst')])).toBe('lˈɪst');
    expect(joinCompound([])).toBe('');
  });
});
