/** Hindi number names: each number below a hundred has its own. */

import type { NumberNames } from '../rules/numbers.ts';

const BELOW_HUNDRED = (
  'शून्य एक दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस ' +
  'बीस इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस ' +
  'चालीस इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ ' +
  'साठ इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उन्यासी ' +
  'अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानवे बानवे तिरानवे चौरानवे पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे'
).split(' ');
const SCALES = [
  [1e13, 'नील'],
  [1e11, 'खरब'],
  [1e9, 'अरब'],
  [1e7, 'करोड़'],
  [1e5, 'लाख'],
  [1e3, 'हज़ार'],
  [1e2, 'सौ'],
] as const;
const ORDINALS: Readonly<Record<number, string>> = {
  1: 'पहला',
  2: 'दूसरा',
  3: 'तीसरा',
  4: 'चौथा',
  6: 'छठा',
  100: 'सौवाँ',
};

function cardinal(value: number): string {
  if (value < 100) return BELOW_HUNDRED[value] ?? '';
  const words: string[] = [];
  let rest = value;
  for (const [size, name] of SCALES) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count > 0) words.push(cardinal(count), name);
  }
  if (rest > 0) words.push(BELOW_HUNDRED[rest] ?? '');
  return words.join(' ');
}

function ordinal(value: number, gender: 'm' | 'f'): string | undefined {
  if (value < 1) return undefined;
  const masculine = ORDINALS[value] ?? `${cardinal(value)}वाँ`;
  return gender === 'f' ? masculine.replace(/ाँ$/u, 'ीं').replace(/ा$/u, 'ी') : masculine;
}

/** Years between 1100 and 1999 are counted in hundreds: "उन्नीस सौ सैंतालीस". */
export function year(value: number): string {
  if (value < 1100 || value > 1999) return cardinal(value);
  const rest = value % 100;
  return `${cardinal(Math.floor(value / 100))} सौ${rest === 0 ? '' : ` ${cardinal(rest)}`}`;
}

export const NUMBERS: NumberNames = { cardinal, ordinal };
