/** Formatting of values in the console. */

const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 });
const CREDITS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** For the axis of a chart: `1.25M`. */
export function formatShortCount(count: number): string {
  return SHORT.format(count);
}

export function formatCredits(credits: number): string {
  return CREDITS.format(credits);
}

/** @param unixSeconds shown in the time zone of the browser. */
export function formatTime(unixSeconds: number): string {
  return TIME.format(unixSeconds * 1000);
}

/** Formats a duration, from `< 0.01 s` over `2.35 s` to `1 h 4 min`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 0.01) return seconds === 0 ? '0 s' : '< 0.01 s';
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats bytes in decimal units: `980 B`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
