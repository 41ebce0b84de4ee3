/** Decimal numbers as integers of a small unit, so that sums of money are exact. */

/** A decimal number without a sign: `12`, `0.5`, `1.5e-7`. */
const DECIMAL = /^(\d{1,20})(?:\.(\d{1,20}))?(?:e([+-]?\d{1,2}))?$/i;

/**
 * Converts a decimal number to units of 10^-`places`.
 * @returns undefined if the text is not a number, is negative or has more decimal places.
 */
export function scaledInteger(text: string, places: number): bigint | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const zeros = places - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  if (zeros >= 0) return digits * 10n ** BigInt(zeros);
  const unit = 10n ** BigInt(-zeros);
  return digits % unit === 0n ? digits / unit : undefined;
}

/** Formats `value` units of 10^-`places` without trailing zeros. */
export function decimalText(value: bigint, places: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0');
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  const whole = digits.slice(0, digits.length - places);
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
