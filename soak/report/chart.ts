/** Line charts as SVG: a time axis in minutes, lines, and marks for the times of faults. */

export interface Line {
  readonly name: string;
  readonly points: readonly { readonly atMs: number; readonly value: number }[];
}

export interface Mark {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly Line[];
  readonly marks: readonly Mark[];
  readonly lengthMs: number;
  /** Whether the y axis is logarithmic. */
  readonly isLogarithmic?: boolean;
}

const [WIDTH, HEIGHT] = [1000, 360];
const PLOT = { left: 60, right: 780, top: 90, bottom: 320 };
const MINUTE_MS = 60_000;
/** Colours for readers with any colour vision (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#999999'];
/** Approximate number of grid lines. */
const TICKS = 5;
/** Maximum distance of joined points in ms. A larger distance is a gap in the measurements. */
const GAP_MS = 30_000;

export function chartSvg(chart: Chart): string {
  const { title, unit, lines, marks, lengthMs, isLogarithmic = false } = chart;
  const values = lines.flatMap(({ points }) => points.map(({ value }) => value));
  const scale = isLogarithmic ? logarithmicScale(values) : linearScale(values);
  const x = (ms: number) => PLOT.left + (Math.min(ms, lengthMs) / lengthMs) * (PLOT.right - PLOT.left);
  const y = (value: number) => PLOT.bottom - scale.share(value) * (PLOT.bottom - PLOT.top);
  const heading = `${escaped(title)}${unit && ` (${escaped(unit)})`}`;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">`,
    `<title>${heading}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${PLOT.left}" y="18" font-size="14" font-weight="bold">${heading}</text>`,
    ...marks.map((mark) => markSvg(mark, x)),
    ...scale.ticks.map(
      (tick) =>
        `<path d="M${PLOT.left} ${round(y(tick))}H${PLOT.right}" stroke="#ddd"/>` +
        `<text x="${PLOT.left - 6}" y="${round(y(tick) + 4)}" text-anchor="end">${short(tick)}</text>`,
    ),
    ...minuteTicks(lengthMs).map(
      (minute) =>
        `<text x="${round(x(minute * MINUTE_MS))}" y="${PLOT.bottom + 16}" text-anchor="middle">${minute}</text>`,
    ),
    `<text x="${PLOT.right}" y="${PLOT.bottom + 32}" text-anchor="end">minutes</text>`,
    ...lines.map((line, at) => lineSvg(line, at, x, y)),
    '</svg>',
  ];
  return `${parts.join('\n')}\n`;
}

function lineSvg(
  { name, points }: Line,
  at: number,
  x: (ms: number) => number,
  y: (value: number) => number,
) {
  const colour = COLOURS[at % COLOURS.length];
  const path = points
    .map(({ atMs, value }, index) => {
      const before = points[index - 1];
      const isJoined = before !== undefined && atMs - before.atMs <= GAP_MS;
      return `${isJoined ? 'L' : 'M'}${round(x(atMs))} ${round(y(value))}`;
    })
    .join('');
  const row = PLOT.top + 12 + at * 16;
  return (
    `<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.5" stroke-linecap="round"/>` +
    `<path d="M${PLOT.right + 12} ${row - 4}h16" stroke="${colour}" stroke-width="3"/>` +
    `<text x="${PLOT.right + 34}" y="${row}">${escaped(name)}</text>`
  );
}

function markSvg({ name, fromMs, toMs }: Mark, x: (ms: number) => number): string {
  const [from, width] = [round(x(fromMs)), round(Math.max(1, x(toMs) - x(fromMs)))];
  return (
    `<rect x="${from}" y="${PLOT.top}" width="${width}" height="${PLOT.bottom - PLOT.top}" fill="#f6d5d5"/>` +
    `<text transform="translate(${from} ${PLOT.top - 4}) rotate(-45)" font-size="9" fill="#944">${escaped(name)}</text>`
  );
}

interface Scale {
  readonly ticks: readonly number[];
  /** Position of a value on the axis, from 0 to 1. */
  share(value: number): number;
}

function linearScale(values: readonly number[]): Scale {
  const maximum = values.reduce((max, value) => Math.max(max, value), 0) || 1;
  const step = niceStep(maximum / TICKS);
  const count = Math.ceil(maximum / step);
  return {
    ticks: Array.from({ length: count + 1 }, (_, at) => at * step),
    share: (value) => value / (count * step),
  };
}

function logarithmicScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0);
  const minExponent = Math.floor(Math.log10(positive.reduce((min, value) => Math.min(min, value), 1)));
  const maxExponent = Math.max(
    minExponent + 1,
    Math.ceil(Math.log10(positive.reduce((max, value) => Math.max(max, value), 1))),
  );
  return {
    ticks: Array.from({ length: maxExponent - minExponent + 1 }, (_, at) => 10 ** (minExponent + at)),
    share: (value) =>
      value > 0 ? Math.max(0, (Math.log10(value) - minExponent) / (maxExponent - minExponent)) : 0,
  };
}

/** The smallest number not below `minimum` that is 1, 2 or 5 times a power of ten. */
function niceStep(minimum: number): number {
  const power = 10 ** Math.floor(Math.log10(minimum));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= minimum) ?? 10);
}

function minuteTicks(lengthMs: number): number[] {
  const minutes = lengthMs / MINUTE_MS;
  const step = Math.max(1, niceStep(minutes / 10));
  return Array.from({ length: Math.floor(minutes / step) + 1 }, (_, at) => at * step);
}

const round = (value: number) => Math.round(value * 10) / 10;
const short = (value: number) => String(Number(value.toPrecision(3)));
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
