import { describe, expect, test } from 'vitest';
import { alignWords } from './word-alignment.ts';

/** "of=ʌv the=ðə" */
function aligned(text: string, phonemes: string): string {
  const words = text.split(' ');
  const owners = alignWords(words, phonemes);
  expect(owners).toHaveLength([...phonemes].length);
  return words
    .map(
      (word, i) =>
        `${word}=${[...phonemes].filter((symbol, at) => symbol !== ' ' && owners[at] === i).join('')}`,
    )
    .join(' ');
}

/** Phonemes of eSpeak. */
describe('words are found', () => {
  test.each([
    ['the same number', 'a dog barks', 'ɐ dˈɑːɡ bˈɑːɹks', 'a=ɐ dog=dˈɑːɡ barks=bˈɑːɹks'],
    ['joined words', 'end of the day', 'ˈɛnd ʌvðə dˈeɪ', 'end=ˈɛnd of=ʌv the=ðə day=dˈeɪ'],
    ['a joined diphthong', 'I am in', 'aɪɐm ɪn', 'I=aɪ am=ɐm in=ɪn'],
    ['a vowel before a stressed vowel', 'there are some', 'ðɛɹˌɑːɹ sˌʌm', 'there=ðɛɹ are=ˌɑːɹ some=sˌʌm'],
    ['a long vowel before a consonant', 'do not open', 'duːnˌɑːt ˈoʊpən', 'do=duː not=nˌɑːt open=ˈoʊpən'],
    [
      'several joined words',
      'out of it and for a while I had been there',
      'ˌaʊɾəv ɪt ænd fɚɹə wˈaɪl aɪ hɐdbɪn ðˈɛɹ',
      'out=ˌaʊɾ of=əv it=ɪt and=ænd for=fɚɹ a=ə while=wˈaɪl I=aɪ had=hɐd been=bɪn there=ðˈɛɹ',
    ],
    [
      'a word that is spoken as two',
      'go xyz now',
      'ɡˌoʊ ˌɛkswˈaɪ zˈiː nˈaʊ',
      'go=ɡˌoʊ xyz=ˌɛkswˈaɪzˈiː now=nˈaʊ',
    ],
    ['one word', 'www', 'dˌʌbəljˌuː dˌʌbəljˌuː', 'www=dˌʌbəljˌuːdˌʌbəljˌuː'],
    ['no phonemes', 'a b', '', 'a= b='],
  ])('%s', (_, text, phonemes, words) => expect(aligned(text, phonemes)).toBe(words));
});
