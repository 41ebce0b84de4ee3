import { expect, it } from 'vitest';
import { errorLine, outputLine } from './result-line.ts';

it('an output line contains the body unchanged', () => {
  const body = '{"text":"a \\n b","list":[1,2.0,3e5]}';
  const line = outputLine('id "1" \u2028', 'req_1', body);
  expect(line).toContain(`"body":${body}}`);
  expect(line.endsWith('\n')).toBe(true);
  expect(JSON.parse(line)).toEqual({
    id: expect.stringMatching(/^batch_req_/),
    custom_id: 'id "1" \u2028',
    response: { status_code: 200, request_id: 'req_1', body: JSON.parse(body) },
    error: null,
  });
});

it('a body of several lines becomes one line with the same values', () => {
  const body = '{\r\n  "text": "a \\n b"\n}\n';
  const line = outputLine('1', 'req_1', body);
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(line).not.toContain('\r');
  expect(JSON.parse(line).response.body).toEqual({ text: 'a \n b' });
});

it('a line has no line separators, in any of its texts', () => {
  const text = 'a\u2028b\u2029c\u0085d';
  for (const line of [
    outputLine(text, 'req_1', JSON.stringify({ text })),
    errorLine(text, { code: 'server_error', message: text }),
  ]) {
    expect(line.split(/[\n\u0085\u2028\u2029]/)).toEqual([line.slice(0, -1), '']);
    expect(JSON.stringify(JSON.parse(line)).split(JSON.stringify(text))).toHaveLength(3);
  }
});

it('an error line has no response', () => {
  expect(JSON.parse(errorLine('1', { code: 'batch_expired', message: 'late\n' }))).toEqual({
    id: expect.stringMatching(/^batch_req_/),
    custom_id: '1',
    response: null,
    error: { code: 'batch_expired', message: 'late\n' },
  });
});
