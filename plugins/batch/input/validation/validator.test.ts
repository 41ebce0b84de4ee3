import { describe, expect, it } from 'vitest';
import { INPUT_FILE_BYTES } from '../../../../src/contract/stores/file-store.ts';
import { LineCutter } from '../line-splitter.ts';
import { InputCheck, type InputVerdict, MAX_FAULTS, MAX_REQUESTS } from './validator.ts';

const RULES = { endpoint: '/v1/embeddings', maxLineBytes: 4096 } as const;
const BODY = { model: 'm', input: 'x' };

function verdictOf(input: string | Uint8Array<ArrayBuffer>): InputVerdict {
  const check = new InputCheck(RULES);
  const cutter = new LineCutter(RULES.maxLineBytes);
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input;
  check.count(bytes.length);
  for (const line of cutter.cut(bytes)) check.take(line);
  for (const line of cutter.end()) check.take(line);
  return check.verdict();
}

/** Code, param and line of each fault of one line after a sound one and a blank one. */
function faultsOf(line: unknown): (readonly [string, string | null, number | null])[] {
  const first = JSON.stringify({ custom_id: 'first', body: BODY });
  const verdict = verdictOf(`${first}\n\n${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  if (verdict.kind === 'sound') return [];
  return verdict.faults.map(({ code, param, line: number }) => [code, param, number] as const);
}

describe('a sound file', () => {
  it('tells how many requests there are and their model', () => {
    const lines = [
      { custom_id: 'a', body: BODY },
      { custom_id: 'b', method: 'POST', url: '/v1/embeddings', body: BODY, more: 1 },
      { custom_id: 'é'.repeat(512), body: BODY },
      { custom_id: '😀'.repeat(512), body: BODY },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join('\r\n');
    expect(verdictOf(`\ufeff${text}`)).toEqual({ kind: 'sound', total: 4, model: 'm' });
  });

  it('has no model of its own when lines name different ones', () => {
    const line = (id: string, model: string) => JSON.stringify({ custom_id: id, body: { model } });
    const verdict = verdictOf(`${line('a', 'm')}\n${line('b', 'n')}\n${line('c', 'm')}`);
    expect(verdict).toEqual({ kind: 'sound', total: 3, model: undefined });
  });
});

describe('a fault', () => {
  it.each([
    ['{"custom_id":', [['invalid_json_line', null, 3]]],
    ['[]', [['invalid_json_line', null, 3]]],
    ['null', [['invalid_json_line', null, 3]]],
    ['7', [['invalid_json_line', null, 3]]],
    [{ custom_id: 'first', body: BODY }, [['duplicate_custom_id', 'custom_id', 3]]],
    [{ body: BODY }, [['missing_required_parameter', 'custom_id', 3]]],
    [{ custom_id: 1, body: BODY }, [['invalid_type', 'custom_id', 3]]],
    [{ custom_id: null, body: BODY }, [['invalid_type', 'custom_id', 3]]],
    [{ custom_id: '', body: BODY }, [['invalid_value', 'custom_id', 3]]],
    [{ custom_id: 'x'.repeat(513), body: BODY }, [['invalid_value', 'custom_id', 3]]],
    [{ custom_id: '😀'.repeat(513), body: BODY }, [['invalid_value', 'custom_id', 3]]],
    [{ custom_id: 'a', method: 'GET', body: BODY }, [['invalid_method', 'method', 3]]],
    [{ custom_id: 'a', method: 1, body: BODY }, [['invalid_type', 'method', 3]]],
    [{ custom_id: 'a', url: '/v1/responses', body: BODY }, [['invalid_url', 'url', 3]]],
    [{ custom_id: 'a', url: '/v1/images', body: BODY }, [['invalid_url', 'url', 3]]],
    [{ custom_id: 'a', url: {}, body: BODY }, [['invalid_type', 'url', 3]]],
    [{ custom_id: 'a' }, [['missing_required_parameter', 'body', 3]]],
    [{ custom_id: 'a', body: [] }, [['invalid_type', 'body', 3]]],
    [{ custom_id: 'a', body: {} }, [['missing_required_parameter', 'body.model', 3]]],
    [{ custom_id: 'a', body: { model: 4 } }, [['invalid_type', 'body.model', 3]]],
    [{ custom_id: 'a', body: { model: 'm'.repeat(257) } }, [['invalid_value', 'body.model', 3]]],
    [{ custom_id: 'a', body: { model: 'm'.repeat(256) } }, []],
    [{ custom_id: 'the character \ufffd itself', body: BODY }, []],
    [`{"custom_id":"a","body":${JSON.stringify(BODY)},"x":${'['.repeat(99)}${']'.repeat(99)}}`, []],
    [`{"custom_id":"a","body":{"model":"${'m'.repeat(5000)}"}}`, [['line_too_long', null, 3]]],
    [`{"custom_id":"a","x":${'['.repeat(101)}${']'.repeat(101)}}`, [['line_too_complex', null, 3]]],
    [`${'['.repeat(4000)}`, [['line_too_complex', null, 3]]],
    [
      { method: 'PUT', url: '/x', body: 'y' },
      [
        ['missing_required_parameter', 'custom_id', 3],
        ['invalid_method', 'method', 3],
        ['invalid_url', 'url', 3],
        ['invalid_type', 'body', 3],
      ],
    ],
  ])('of %j is named with its field and line', (line, faults) => {
    expect(faultsOf(line)).toEqual(faults);
  });

  it('names both endpoints of a line for another one', () => {
    const verdict = verdictOf(JSON.stringify({ custom_id: 'a', url: '/v1/responses', body: BODY }));
    expect(verdict).toMatchObject({
      faults: [{ message: expect.stringMatching(/\/v1\/responses.*\/v1\/embeddings/) }],
    });
  });

  it('is text that is not UTF-8', () => {
    const bytes = new TextEncoder().encode(`${JSON.stringify({ custom_id: '?', body: BODY })}\n`);
    bytes[bytes.indexOf(63)] = 0xff;
    expect(verdictOf(bytes)).toMatchObject({
      kind: 'faulty',
      faults: [{ code: 'invalid_json_line', line: 1 }],
    });
  });

  it.each(['', '\n', ' \r\n\t\n', '\ufeff', '\ufeff\n'])('is a file without a request: %j', (text) => {
    const fault = { code: 'empty_file', message: expect.any(String), param: null, line: null };
    expect(verdictOf(text)).toEqual({ kind: 'faulty', faults: [fault] });
  });
});

describe('limits', () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, at) => JSON.stringify({ custom_id: `${at}`, body: BODY })).join('\n');

  it(`are ${MAX_REQUESTS} requests`, () => {
    expect(verdictOf(lines(MAX_REQUESTS))).toMatchObject({ kind: 'sound', total: MAX_REQUESTS });
    expect(verdictOf(`\n${lines(MAX_REQUESTS + 5)}`)).toMatchObject({
      kind: 'faulty',
      faults: [{ code: 'too_many_requests', param: null, line: MAX_REQUESTS + 2 }],
    });
  });

  it('are 200 MB', () => {
    const check = new InputCheck(RULES);
    check.count(INPUT_FILE_BYTES);
    expect(check.isOver).toBe(false);
    check.count(1);
    expect(check.isOver).toBe(true);
    expect(check.verdict()).toMatchObject({ faults: [{ code: 'file_too_large', param: null, line: null }] });
  });

  it(`are ${MAX_FAULTS} faults, after which nothing is read`, () => {
    const check = new InputCheck(RULES);
    for (let number = 1; !check.isOver; number += 1) {
      check.take({ number, startBytes: 0, endBytes: 0, bytes: new Uint8Array([120]) });
    }
    const verdict = check.verdict();
    expect(verdict.kind === 'faulty' && verdict.faults.at(-1)).toMatchObject({ line: MAX_FAULTS });
    expect(verdict.kind === 'faulty' && verdict.faults).toHaveLength(MAX_FAULTS);
  });
});
