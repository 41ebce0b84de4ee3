/** Brazilian Portuguese number names. */

import type { Gender, NumberNames } from '../rules/numbers.ts';

const UNITS =
  'zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove'.split(
    ' ',
  );
const TENS = '_ _ vinte trinta quarenta cinquenta sessenta setenta oitenta noventa'.split(' ');
const HUNDREDS =
  '_ cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos'.split(' ');
const ORDINALS = '_ primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono'.split(' ');
const ORDINAL_TENS =
  '_ décimo vigésimo trigésimo quadragésimo quinquagésimo sexagésimo septuagésimo octogésimo nonagésimo'.split(
    ' ',
  );

function unit(value: number, gender: Gender): string {
  if (gender === 'f' && value === 1) return 'uma';
  return gender === 'f' && value === 2 ? 'duas' : (UNITS[value] ?? '');
}

function belowThousand(value: number, gender: Gender): string {
  if (value === 100) return 'cem';
  const parts: string[] = [];
  const hundred = HUNDREDS[Math.floor(value / 100)] ?? '';
  if (value >= 100) parts.push(gender === 'f' && value >= 200 ? hundred.replace(/os$/, 'as') : hundred);
  const rest = value % 100;
  if (rest >= 20) {
    parts.push(TENS[Math.floor(rest / 10)] ?? '');
    if (rest % 10 > 0) parts.push(unit(rest % 10, gender));
  } else if (rest > 0) parts.push(unit(rest, gender));
  return parts.join(' e ');
}

const SCALES = [
  [1e12, 'trilhão', 'trilhões'],
  [1e9, 'bilhão', 'bilhões'],
  [1e6, 'milhão', 'milhões'],
] as const;

function cardinal(value: number, gender: Gender = 'bare'): string {
  if (value === 0) return 'zero';
  const groups: { readonly name: string; readonly value: number }[] = [];
  let rest = value;
  for (const [size, one, many] of SCALES) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count > 0)
      groups.push({ name: `${belowThousand(count, 'm')} ${count === 1 ? one : many}`, value: count });
  }
  const thousands = Math.floor(rest / 1000);
  if (thousands > 0) {
    groups.push({
      name: thousands === 1 ? 'mil' : `${belowThousand(thousands, gender)} mil`,
      value: thousands,
    });
  }
  if (rest % 1000 > 0) groups.push({ name: belowThousand(rest % 1000, gender), value: rest % 1000 });
  const last = groups.at(-1);
  const head = groups.slice(0, -1).map(({ name }) => name);
  if (last === undefined || head.length === 0) return last?.name ?? '';
  // "mil e um", "mil e duzentos", but "mil duzentos e um".
  const isJoined = rest % 1000 > 0 && (last.value <= 100 || last.value % 100 === 0);
  return `${head.join(' ')} ${isJoined ? 'e ' : ''}${last.name}`;
}

function ordinal(value: number, gender: 'm' | 'f'): string | undefined {
  if (value < 1 || value > 100) return undefined;
  const words = [ORDINAL_TENS[Math.floor(value / 10)] ?? '', ORDINALS[value % 10] ?? ''];
  const masculine =
    value === 100 ? 'centésimo' : words.filter((word) => word !== '' && word !== '_').join(' ');
  return gender === 'f' ? masculine.replaceAll(/o\b/g, 'a') : masculine;
}

export const NUMBERS: NumberNames = { cardinal, ordinal };
