import { printable } from '../text/printable.ts';
import { isRecord } from '../validation/is-record.ts';

/**
 * Converts a line of the JSON log to a line for people: time of day in UTC, level, message and fields. An error follows in
 * indented lines.
 * @param json an object with `level`, `time` (ISO) and `msg`.
 */
export function textLine(json: string): string {
  const { level, time, msg, error, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const words = Object.entries(fields).map(([name, value]) => `${name}=${shownValue(value)}`);
  const clock = String(time).slice('2026-01-02T'.length, '2026-01-02T03:04:05'.length);
  const line = [`${clock}Z`, String(level).padEnd('error'.length), String(msg), ...words].join('  ');
  return [line, ...errorLines(error, '')].map((each) => `${printable(each)}\n`).join('');
}

/** Values with spaces are quoted, so that their end is visible. */
function shownValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[\s"=]/.test(text) || text === '' ? JSON.stringify(text) : text;
}

function errorLines(error: unknown, prefix: string): string[] {
  if (!isRecord(error)) return [];
  const code = typeof error.code === 'string' ? ` (${error.code})` : '';
  const message = typeof error.message === 'string' ? `: ${error.message}` : '';
  const frames = Array.isArray(error.stack) ? error.stack.map((frame) => `      ${frame}`) : [];
  return [
    `    ${prefix}${String(error.class)}${code}${message}`,
    ...frames,
    ...errorLines(error.cause, 'caused by '),
  ];
}
