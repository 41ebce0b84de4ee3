/** Values of SSML attributes: rate, volume and durations (W3C SSML 1.1, sections 3.2.3 and 3.2.4). */

import { MAX_RATE, MIN_RATE } from './speech-parts.ts';

/** Labels of `rate`; the recommendation leaves their values to the processor. */
const RATES: Readonly<Record<string, number>> = {
  'x-slow': 0.5,
  slow: 0.75,
  medium: 1,
  default: 1,
  fast: 1.25,
  'x-fast': 1.5,
};
/** Labels of `volume` in dB. */
const VOLUMES_DB: Readonly<Record<string, number>> = {
  silent: -Infinity,
  'x-soft': -12,
  soft: -6,
  medium: 0,
  default: 0,
  loud: 3,
  'x-loud': 6,
};
/** Louder speech would clip. */
const MAX_VOLUME_DB = 6;
const MIN_VOLUME_DB = -60;
/** Labels of `strength` of a break in ms. */
const STRENGTHS_MS: Readonly<Record<string, number>> = {
  none: 0,
  'x-weak': 100,
  weak: 250,
  medium: 500,
  strong: 750,
  'x-strong': 1250,
};
/** Maximum length of one break. */
export const MAX_BREAK_MS = 10_000;

/**
 * Returns the factor of a `rate`: a label, a percentage (`80%`), a change (`+10%`, `-20%`) or a factor (`1.2`). Clamped to the rates
 * that engines have.
 * @returns undefined for another value.
 */
export function rateOf(value: string): number | undefined {
  const written = value.trim();
  const label = own(RATES, written);
  if (label !== undefined) return label;
  const parts = /^([+-]?)([0-9]{1,4}(?:\.[0-9]{1,4})?)(%?)$/.exec(written);
  if (parts === null) return undefined;
  const [, sign = '', digits = '', percent = ''] = parts;
  if (sign !== '' && percent === '') return undefined;
  const amount = Number(digits) / (percent === '' ? 1 : 100);
  const factor = sign === '' ? amount : sign === '+' ? 1 + amount : 1 - amount;
  return Math.min(MAX_RATE, Math.max(MIN_RATE, factor));
}

/**
 * Returns the linear factor of a `volume`: a label, a change in decibels (`+6dB`), or a level of 0 to 100 as in SSML 1.0. Clamped to
 * 6 dB.
 * @returns undefined for another value.
 */
export function gainOf(value: string): number | undefined {
  const written = value.trim();
  const label = own(VOLUMES_DB, written);
  if (label !== undefined) return linear(label);
  const change = /^([+-]?[0-9]{1,3}(?:\.[0-9]{1,3})?)dB$/i.exec(written);
  if (change !== null) return linear(Number(change[1]));
  const level = /^[0-9]{1,3}(?:\.[0-9]{1,3})?$/.exec(written);
  return level === null ? undefined : Math.min(1, Number(written) / 100);
}

/**
 * Returns the length of a `time`: `500ms` or `1.5s`.
 * @returns undefined for another value.
 */
export function millisecondsOf(value: string): number | undefined {
  const parts = /^\+?([0-9]{1,6}(?:\.[0-9]{1,6})?|\.[0-9]{1,6})(ms|s)$/i.exec(value.trim());
  if (parts === null) return undefined;
  return Math.round(Number(parts[1]) * (parts[2]?.toLowerCase() === 's' ? 1000 : 1));
}

/** Returns the length of a break without a time, in ms; undefined for an unknown label. */
export function strengthMs(value: string): number | undefined {
  return own(STRENGTHS_MS, value.trim());
}

/** Labels of `strength`, for error messages. */
export const STRENGTHS = Object.keys(STRENGTHS_MS);

function linear(db: number): number {
  if (db < MIN_VOLUME_DB) return 0;
  return 10 ** (Math.min(MAX_VOLUME_DB, db) / 20);
}

function own(table: Readonly<Record<string, number>>, key: string): number | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
