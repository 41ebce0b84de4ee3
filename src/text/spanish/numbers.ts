/** Spanish number names (RAE, Ortografía 2010). */

import type { Gender, NumberNames } from '../rules/numbers.ts';

const UNITS =
  'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve'.split(
    ' ',
  );
const TENS = '_ _ _ treinta cuarenta cincuenta sesenta setenta ochenta noventa'.split(' ');
const HUNDREDS =
  '_ ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos'.split(
    ' ',
  );
const ORDINALS =
  '_ primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo'.split(' ');
const ORDINAL_TENS =
  '_ décimo vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo nonagésimo'.split(
    ' ',
  );

function belowThousand(value: number, gender: Gender): string {
  if (value === 100) return 'cien';
  const hundred = HUNDREDS[Math.floor(value / 100)] ?? '';
  const hundreds = value < 100 ? '' : gender === 'f' && value >= 200 ? hundred.replace(/os$/, 'as') : hundred;
  return [hundreds, value % 100 === 0 ? '' : belowHundred(value % 100, gender)].filter(Boolean).join(' ');
}

function belowHundred(value: number, gender: Gender): string {
  const name =
    value < 30
      ? (UNITS[value] ?? '')
      : [TENS[Math.floor(value / 10)], ...(value % 10 === 0 ? [] : ['y', UNITS[value % 10]])].join(' ');
  if (gender === 'bare' || !name.endsWith('uno')) return name;
  if (gender === 'f') return name.replace(/uno$/, 'una');
  return value === 21 ? 'veintiún' : name.replace(/uno$/, 'un');
}

function belowMillion(value: number, gender: Gender): string {
  const thousands = Math.floor(value / 1000);
  const ofThousands = belowThousand(thousands, gender === 'f' ? 'f' : 'm');
  const words = thousands === 0 ? [] : [thousands === 1 ? 'mil' : `${ofThousands} mil`];
  if (value % 1000 > 0) words.push(belowThousand(value % 1000, gender));
  return words.join(' ');
}

function cardinal(value: number, gender: Gender = 'bare'): string {
  if (value === 0) return 'cero';
  const billions = Math.floor(value / 1e12);
  const millions = Math.floor(value / 1e6) % 1e6;
  const words: string[] = [];
  if (billions > 0) words.push(billions === 1 ? 'un billón' : `${belowMillion(billions, 'm')} billones`);
  if (millions > 0) words.push(millions === 1 ? 'un millón' : `${belowMillion(millions, 'm')} millones`);
  if (value % 1e6 > 0) words.push(belowMillion(value % 1e6, gender));
  return words.join(' ');
}

function ordinal(value: number, gender: 'm' | 'f'): string | undefined {
  const name = masculineOrdinal(value);
  return gender === 'f' ? name?.replaceAll(/o\b/g, 'a') : name;
}

function masculineOrdinal(value: number): string | undefined {
  if (value < 1 || value > 100) return undefined;
  if (value === 100) return 'centésimo';
  if (value < ORDINALS.length) return ORDINALS[value];
  const ten = ORDINAL_TENS[Math.floor(value / 10)] ?? '';
  const unit = value % 10 === 0 ? '' : (ORDINALS[value % 10] ?? '');
  if (value < 20) return `decimo${unit}`.replace('oo', 'o');
  return [ten, unit].filter(Boolean).join(' ');
}

export const NUMBERS: NumberNames = { cardinal, ordinal };
