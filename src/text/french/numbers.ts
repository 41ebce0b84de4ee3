/** French number names, with the hyphens of the traditional spelling. */

import type { Gender, NumberNames } from '../rules/numbers.ts';

const UNITS =
  'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf'.split(
    ' ',
  );
const TENS = '_ _ vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt'.split(' ');

function belowHundred(value: number, gender: Gender): string {
  const one = gender === 'f' ? 'une' : 'un';
  if (value === 1) return one;
  if (value < 20) return UNITS[value] ?? '';
  const ten = Math.floor(value / 10);
  const name = TENS[ten] ?? '';
  const rest = ten === 7 || ten === 9 ? (value % 10) + 10 : value % 10;
  if (rest === 0) return ten === 8 ? 'quatre-vingts' : name;
  if (rest === 1 && ten < 8) return `${name} et ${one}`;
  if (rest === 11 && ten === 7) return `${name} et onze`;
  return `${name}-${rest === 1 ? one : UNITS[rest]}`;
}

/** @param isLast whether nothing but million and milliard follows, so that "cents" and "vingts" have their s. */
function belowThousand(value: number, gender: Gender, isLast: boolean): string {
  const hundreds = Math.floor(value / 100);
  const rest = value % 100;
  const words: string[] = [];
  if (hundreds === 1) words.push('cent');
  if (hundreds > 1) words.push(`${UNITS[hundreds]} ${rest === 0 && isLast ? 'cents' : 'cent'}`);
  if (rest > 0) {
    const name = belowHundred(rest, gender);
    words.push(isLast ? name : name.replace(/vingts$/, 'vingt'));
  }
  return words.join(' ');
}

const SCALES = [
  [1e12, 'billion'],
  [1e9, 'milliard'],
  [1e6, 'million'],
] as const;

function cardinal(value: number, gender: Gender = 'bare'): string {
  if (value === 0) return 'zéro';
  const words: string[] = [];
  let rest = value;
  for (const [size, name] of SCALES) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count > 0) words.push(`${belowThousand(count, 'm', true)} ${name}${count > 1 ? 's' : ''}`);
  }
  const thousands = Math.floor(rest / 1000);
  if (thousands > 0) words.push(thousands === 1 ? 'mille' : `${belowThousand(thousands, 'm', false)} mille`);
  if (rest % 1000 > 0) words.push(belowThousand(rest % 1000, gender, true));
  return words.join(' ');
}

function ordinal(value: number, gender: 'm' | 'f'): string | undefined {
  if (value < 1) return undefined;
  if (value === 1) return gender === 'f' ? 'première' : 'premier';
  const name = cardinal(value).replace(/(vingt|cent|million|milliard|billion)s$/, '$1');
  return `${name.replace(/f$/, 'v').replace(/cinq$/, 'cinqu').replace(/e$/, '')}ième`;
}

export const NUMBERS: NumberNames = { cardinal, ordinal };
