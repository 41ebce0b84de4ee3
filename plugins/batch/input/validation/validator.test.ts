import { describe, expect, it } from 'vitest';
import { MAX_INPUT_FILE_BYTES } from '../../../../src/contract/stores/file-store.ts';
import { LineSplitter } from '../line-splitter.ts';
import { InputValidator, MAX_ERRORS, MAX_REQUESTS, type ValidationResult } from './validator.ts';

const RULES = { endpoint: '/v1/embeddings', maxLineBytes: 4096 } as const;
const BODY = { model: 'm', input: 'x' };

function resultOf(input: string | Uint8Array<ArrayBuffer>): ValidationResult {
  const validator = new InputValidator(RULES);
  const splitter = new LineSplitter(RULES.maxLineBytes);
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input;
  validator.addBytes(bytes.length);
  for (const line of splitter.split(bytes)) validator.addLine(line);
  for (const line of splitter.flush()) validator.addLine(line);
  return validator.result();
}

/** Code, param and line of each error of one line after a valid and a blank line. */
function errorsOf(line: unknown): (readonly [string, string | null, number | null])[] {
  const first = JSON.stringify({ custom_id: 'first', body: BODY });
  const result = resultOf(`${first}\n\n${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  if (result.kind === 'valid') return [];
  return result.errors.map(({ code, param, line: number }) => [code, param, number] as const);
}

describe('a valid file', () => {
  it('has a number of requests and a model', () => {
    const lines = [
      { custom_id: 'a', body: BODY },
      { custom_id: 'b', method: 'POST', url: '/v1/embeddings', body: BODY, more: 1 },
      { custom_id: 'é'.repeat(512), body: BODY },
      { custom_id: '😀'.repeat(512), body: BODY },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join('\r\n');
    expect(resultOf(`\ufeff${text}`)).toEqual({ kind: 'valid', total: 4, model: 'm' });
  });

  it('has no model when lines name different ones', () => {
    const line = (id: string, model: string) => JSON.stringify({ custom_id: id, body: { model } });
    const result = resultOf(`${line('a', 'm')}\n${line('b', 'n')}\n${line('c', 'm')}`);
    expect(result).toEqual({ kind: 'valid', total: 3, model: undefined });
  });
});

describe('an error', () => {
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
  ])('of %j has its field and line', (line, errors) => {
    expect(errorsOf(line)).toEqual(errors);
  });

  it('names both endpoints if a line has another one', () => {
    const result = resultOf(JSON.stringify({ custom_id: 'a', url: '/v1/responses', body: BODY }));
    expect(result).toMatchObject({
      errors: [{ message: expect.stringMatching(/\/v1\/responses.*\/v1\/embeddings/) }],
    });
  });

  it('is reported for text that is not UTF-8', () => {
    const bytes = new TextEncoder().encode(`${JSON.stringify({ custom_id: '?', body: BODY })}\n`);
    bytes[bytes.indexOf(63)] = 0xff;
    expect(resultOf(bytes)).toMatchObject({
      kind: 'invalid',
      errors: [{ code: 'invalid_json_line', line: 1 }],
    });
  });

  it.each(['', '\n', ' \r\n\t\n', '\ufeff', '\ufeff\n'])(
    'is reported for a file without requests: %j',
    (text) => {
      const error = { code: 'empty_file', message: expect.any(String), param: null, line: null };
      expect(resultOf(text)).toEqual({ kind: 'invalid', errors: [error] });
    },
  );
});

describe('limits', () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, at) => JSON.stringify({ custom_id: `${at}`, body: BODY })).join('\n');

  it(`allow ${MAX_REQUESTS} requests`, () => {
    expect(resultOf(lines(MAX_REQUESTS))).toMatchObject({ kind: 'valid', total: MAX_REQUESTS });
    expect(resultOf(`\n${lines(MAX_REQUESTS + 5)}`)).toMatchObject({
      kind: 'invalid',
      errors: [{ code: 'too_many_requests', param: null, line: MAX_REQUESTS + 2 }],
    });
  });

  it('allow 200 MB', () => {
    const validator = new InputValidator(RULES);
    validator.addBytes(MAX_INPUT_FILE_BYTES);
    expect(validator.isDecided).toBe(false);
    validator.addBytes(1);
    expect(validator.isDecided).toBe(true);
    expect(validator.result()).toMatchObject({
      errors: [{ code: 'file_too_large', param: null, line: null }],
    });
  });

  it(`allow ${MAX_ERRORS} errors, after which validation stops`, () => {
    const validator = new InputValidator(RULES);
    for (let number = 1; !validator.isDecided; number += 1) {
      validator.addLine({ number, startBytes: 0, endBytes: 0, bytes: new Uint8Array([120]) });
    }
    const result = validator.result();
    expect(result.kind === 'invalid' && result.errors.at(-1)).toMatchObject({ line: MAX_ERRORS });
    expect(result.kind === 'invalid' && result.errors).toHaveLength(MAX_ERRORS);
  });
});
