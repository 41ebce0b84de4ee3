import { expect, test } from 'vitest';
import { ServiceError } from '../../contract/core/error.ts';
import { textLogger } from './json-logger.ts';
import { textLine } from './text-line.ts';

function record() {
  const text: string[] = [];
  const log = textLogger('info', { write: (line) => void text.push(line), close: async () => {} });
  return { log, lines: () => text.join('').split('\n').slice(0, -1) };
}

test('a line has the time of day, the level, the message and the fields', () => {
  const line = { level: 'info', time: '2026-01-02T03:04:05.678Z', msg: 'listening', port: 80, host: 'a' };
  expect(textLine(JSON.stringify(line))).toBe('03:04:05Z  info   listening  port=80  host=a\n');
});

test.each([
  ['two words', 'field="two words"'],
  ['', 'field=""'],
  ['a="b"', 'field="a=\\"b\\""'],
  [false, 'field=false'],
  [null, 'field=null'],
])('the value %j is shown as %s', (field, shown) => {
  const { log, lines } = record();
  log.warn('x', { field });
  expect(lines()[0]).toMatch(/^\d\d:\d\d:\d\dZ {2}warn {3}x {2}/);
  expect(lines()[0]?.endsWith(shown)).toBe(true);
});

test('an error has its class, code, frames and causes in indented lines, and no private message', () => {
  const { log, lines } = record();
  const cause = Object.assign(new TypeError('private'), { code: 'ECONNRESET' });
  log.error('request failed', new ServiceError('upstream', 'the engine is gone', { cause }), { id: 1 });
  const [first, error, frame] = lines();
  expect(first).toContain('error  request failed  id=1');
  expect(error).toBe('    ServiceError: the engine is gone');
  expect(frame).toMatch(/^ {6}at /);
  expect(lines()).toContain('    caused by TypeError (ECONNRESET)');
  expect(lines().join('\n')).not.toContain('private');
});

test('control characters of a value do not reach the terminal', () => {
  const { log, lines } = record();
  log.info('x', { name: '\u001b[2Jy\n\u202ez' });
  expect(lines()).toHaveLength(1);
  expect(lines()[0]).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
});

test('a line for people follows the lines so far', () => {
  const { log, lines } = record();
  log.info('started');
  log.announce('Ready.');
  expect(lines().at(-1)).toBe('Ready.');
});
