/** Mandarin number names. */

const DIGITS = [...'零一二三四五六七八九'];
const PLACES = ['千', '百', '十', ''];
const GROUPS = ['兆', '亿', '万', ''];
/** More digits are read one by one. */
const MAX_DIGITS = 16;

/** "2025" → "二零二五". @param isTelephone whether 1 is 幺, which cannot be mistaken for 七. */
export function digitByDigit(digits: string, isTelephone = false): string {
  return [...digits].map((digit) => (isTelephone && digit === '1' ? '幺' : DIGITS[Number(digit)])).join('');
}

/** The name of a whole number: "两千零二十五". Leading zeros, and more than 16 digits, are read one by one. */
export function wholeNumber(digits: string): string {
  if (digits.length > MAX_DIGITS || (digits.length > 1 && digits.startsWith('0')))
    return digitByDigit(digits);
  if (digits === '0') return '零';
  const padded = digits.padStart(MAX_DIGITS, '0');
  let read = '';
  let hasGap = false;
  for (const [i, name] of GROUPS.entries()) {
    const group = padded.slice(i * 4, i * 4 + 4);
    if (group === '0000') {
      hasGap = read !== '';
      continue;
    }
    read += (read !== '' && (hasGap || group.startsWith('0')) ? '零' : '') + belowTenThousand(group) + name;
    hasGap = false;
  }
  return read.replace(/^一十/, '十').replace(/^二(?=[千万亿兆])/, '两');
}

function belowTenThousand(group: string): string {
  return PLACES.map((place, i) => {
    const digit = group.charAt(i);
    return digit === '0' ? '零' : `${DIGITS[Number(digit)]}${place}`;
  })
    .join('')
    .replace(/零+/g, '零')
    .replace(/^零|零$/g, '');
}

/** A written number, with commas between groups and a decimal point: "1,234.5" → "一千二百三十四点五". */
export function spokenNumber(written: string): string {
  const [whole = '', fraction] = written.replaceAll(',', '').split('.');
  return wholeNumber(whole) + (fraction === undefined ? '' : `点${digitByDigit(fraction)}`);
}

/** A number before a measure word: two is 两. */
export function counted(written: string): string {
  return written === '2' ? '两' : spokenNumber(written);
}
