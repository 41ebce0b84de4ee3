/** Italian number names, written as one word below a million. */

import type { Gender, NumberNames } from '../rules/numbers.ts';

const UNITS =
  'zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove'.split(
    ' ',
  );
const TENS = '_ _ venti trenta quaranta cinquanta sessanta settanta ottanta novanta'.split(' ');
const ORDINALS = '_ primo secondo terzo quarto quinto sesto settimo ottavo nono decimo'.split(' ');

function belowHundred(value: number): string {
  if (value < 20) return UNITS[value] ?? '';
  const ten = TENS[Math.floor(value / 10)] ?? '';
  const unit = value % 10;
  if (unit === 0) return ten;
  // The vowel is dropped before uno and otto.
  return (unit === 1 || unit === 8 ? ten.slice(0, -1) : ten) + UNITS[unit];
}

function belowThousand(value: number): string {
  const hundreds = Math.floor(value / 100);
  const rest = value % 100;
  const name = hundreds === 0 ? '' : `${hundreds === 1 ? '' : UNITS[hundreds]}cento`;
  if (rest === 0) return name;
  const isElided = rest === 8 || Math.floor(rest / 10) === 8;
  return (isElided && name !== '' ? name.slice(0, -1) : name) + belowHundred(rest);
}

function belowMillion(value: number): string {
  const thousands = Math.floor(value / 1000);
  const name = thousands === 0 ? '' : thousands === 1 ? 'mille' : `${belowThousand(thousands)}mila`;
  return value % 1000 === 0 ? name : name + belowThousand(value % 1000);
}

const SCALES = [
  [1e12, 'bilione', 'bilioni'],
  [1e9, 'miliardo', 'miliardi'],
  [1e6, 'milione', 'milioni'],
] as const;

function cardinal(value: number, gender: Gender = 'bare'): string {
  if (value === 0) return 'zero';
  if (value === 1 && gender !== 'bare') return gender === 'f' ? 'una' : 'un';
  const words: string[] = [];
  let rest = value;
  for (const [size, one, many] of SCALES) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count > 0) words.push(count === 1 ? `un ${one}` : `${accented(belowMillion(count))} ${many}`);
  }
  if (rest > 0) words.push(accented(belowMillion(rest)));
  return words.join(' ');
}

/** "ventitré", but "tre". */
function accented(name: string): string {
  return name.length > 3 ? name.replace(/tre$/, 'tré') : name;
}

function ordinal(value: number, gender: 'm' | 'f'): string | undefined {
  if (value < 1 || value > 999_999) return undefined;
  const name = belowMillion(value);
  const keepsVowel = /(?:tre|sei)$/.test(name);
  const masculine = ORDINALS[value] ?? `${keepsVowel ? name : name.slice(0, -1)}esimo`;
  return gender === 'f' ? masculine.replace(/o$/, 'a') : masculine;
}

export const NUMBERS: NumberNames = { cardinal, ordinal };
