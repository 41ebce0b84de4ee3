import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../contract/core/error.ts';
import { readBody } from './body.ts';
import { bodyBudget } from './body-budget.ts';
import { LARGE_BODY_BYTES } from './parse-turns.ts';

const LIMIT = 64 * 1024;
const URL = 'http://service.test/v1/x';

function form(...entries: readonly [string, string | File][]): Request {
  const body = new FormData();
  for (const [name, value] of entries) body.append(name, value);
  return new Request(URL, { method: 'POST', body });
}

function json(body: string, type = 'application/json'): Request {
  return new Request(URL, { method: 'POST', body, headers: { 'content-type': type } });
}

/** A body without content-length, sent in chunks. */
function chunked(pieces: readonly Uint8Array[], type: string): Request {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return new Request(URL, { method: 'POST', body, headers: { 'content-type': type } });
}

async function errorOf(request: Request, limit = LIMIT): Promise<ServiceError> {
  const outcome = await readBody(request, limit).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(ServiceError);
  return outcome as ServiceError;
}

describe('the turn of a large body', () => {
  const turns = () => {
    let count = 0;
    const inTurn = async <Result>(parse: () => Result | Promise<Result>) => {
      count += 1;
      return await parse();
    };
    return { inTurn, count: () => count };
  };

  test.each([
    { bytes: LARGE_BODY_BYTES - 1, expected: 0 },
    { bytes: LARGE_BODY_BYTES, expected: 1 },
  ])('a body of $bytes bytes takes $expected turns', async ({ bytes, expected }) => {
    const { inTurn, count } = turns();
    const text = 'x'.repeat(bytes - '{"a":""}'.length);
    expect(await readBody(json(`{"a":"${text}"}`), 2 * bytes, { inTurn })).toEqual({ a: text });
    expect(count()).toBe(expected);
  });

  test('its bytes count until it is parsed', async () => {
    const bodies = bodyBudget({ bytesPerKey: 2 * LARGE_BODY_BYTES, totalBytes: 2 * LARGE_BODY_BYTES });
    const gate = Promise.withResolvers<void>();
    const reading = readBody(json(`{"a":"${'x'.repeat(LARGE_BODY_BYTES)}"}`), 2 * LARGE_BODY_BYTES, {
      share: bodies.openShare('a'),
      inTurn: async (parse) => {
        await gate.promise;
        return await parse();
      },
    });
    await expect.poll(() => bodies.bytes).toBeGreaterThan(LARGE_BODY_BYTES);
    gate.resolve();
    await reading;
    expect(bodies.bytes).toBe(0);
  });
});

describe('the budget of all bodies', () => {
  const budget = () => bodyBudget({ bytesPerKey: 100, totalBytes: 1000 });

  test('has the bytes of a body until it is parsed, also if it is rejected', async () => {
    const bodies = budget();
    const gate = Promise.withResolvers<void>();
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('{"a":'));
        await gate.promise;
        controller.enqueue(new TextEncoder().encode('1}'));
        controller.close();
      },
    });
    const headers = { 'content-type': 'application/json' };
    const reading = readBody(new Request(URL, { method: 'POST', body, headers }), LIMIT, {
      share: bodies.openShare('a'),
    });
    await expect.poll(() => bodies.bytes).toBe(5);
    gate.resolve();
    expect(await reading).toEqual({ a: 1 });
    expect(bodies.bytes).toBe(0);
    const broken = readBody(json('{'), LIMIT, { share: bodies.openShare('a') });
    await expect(broken).rejects.toMatchObject({ code: 'invalid_json' });
    expect(bodies.bytes).toBe(0);
  });

  test('rejects a body with 429 as soon as it exceeds the bytes of its key', async () => {
    const bodies = budget();
    const held = bodies.openShare('a');
    held.add(90);
    const over = { kind: 'rate_limited', retryAfterS: 1 };
    const text = `{"a":"${'x'.repeat(50)}"}`;
    const rejected = readBody(json(text), LIMIT, { share: bodies.openShare('a') });
    await expect(rejected).rejects.toMatchObject(over);
    expect(await readBody(json(text), LIMIT, { share: bodies.openShare('b') })).toHaveProperty('a');
    expect(bodies.bytes).toBe(90);
  });
});

describe('JSON', () => {
  test.each(['application/json', 'APPLICATION/JSON; charset=utf-8', 'application/vnd.api+json'])(
    'is read with content type %s',
    async (type) => {
      expect(await readBody(json('{"a":[1,{"b":null}]}', type), LIMIT)).toEqual({ a: [1, { b: null }] });
    },
  );

  test('is the same for every chunking', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.string({ unit: 'grapheme' })),
        fc.integer({ min: 1, max: 7 }),
        async (value, size) => {
          const bytes = new TextEncoder().encode(JSON.stringify(value));
          const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
            bytes.slice(at * size, (at + 1) * size),
          );
          expect(await readBody(chunked(pieces, 'application/json'), LIMIT)).toEqual(
            JSON.parse(JSON.stringify(value)),
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  test.each([
    ['levels', `{"a":${'['.repeat(101)}${']'.repeat(101)}}`, '100 nested lists and objects'],
    ['parts', `{"a":[${'{},'.repeat(60_000)}1]}`, '50000 lists, objects and fields'],
    ['values', `{"a":[${'1,'.repeat(1_100_000)}1]}`, '1000000 values'],
  ])('with too many %s is rejected before parsing', async (_, text, allowed) => {
    const { kind, code, message } = await errorOf(json(text), 8 * 2 ** 20);
    expect([kind, code]).toEqual(['invalid_request', 'invalid_value']);
    expect(message).toContain(allowed);
  });

  test('a key named __proto__ does not change the prototype', async () => {
    const body = await readBody(json('{"__proto__":{"admin":true}}'), LIMIT);
    expect('admin' in (body ?? {})).toBe(false);
  });
});

describe('no body', () => {
  test('returns null with and without a content type', async () => {
    expect(await readBody(new Request(URL, { method: 'POST' }), LIMIT)).toBeNull();
    expect(await readBody(json(''), LIMIT)).toBeNull();
    expect(await readBody(chunked([], 'application/json'), LIMIT)).toBeNull();
  });
});

describe('multipart', () => {
  test('scalars stay strings and files stay files', async () => {
    const file = new File(['RIFF'], 'clip.wav', { type: 'audio/wav' });
    const body = (await readBody(
      form(['model', 'svc-tts'], ['speed', '1.5'], ['note', ''], ['file', file]),
      LIMIT,
    )) as Record<string, unknown>;
    expect({ ...body, file: undefined }).toEqual({
      model: 'svc-tts',
      speed: '1.5',
      note: '',
      file: undefined,
    });
    const read = body.file as File;
    expect([read.name, await read.text()]).toEqual(['clip.wav', 'RIFF']);
  });

  test('brackets denote nesting and lists', async () => {
    const request = form(
      ['video[id]', 'v1'],
      ['video[size][width]', '9'],
      ['include[]', 'a'],
      ['include[]', 'b'],
      ['a[b][]', 'c'],
    );
    expect(JSON.parse(JSON.stringify(await readBody(request, LIMIT)))).toEqual({
      video: { id: 'v1', size: { width: '9' } },
      include: ['a', 'b'],
      a: { b: ['c'] },
    });
  });

  test('preserves text in all scripts', async () => {
    const text = 'Grüße, 你好 👩‍👩‍👧‍👦 \r\n "quoted"';
    expect(await readBody(form(['input', text]), LIMIT)).toMatchObject({ input: text });
  });

  test('property names of Object.prototype are ordinary field names', async () => {
    const body = (await readBody(
      form(['__proto__[admin]', '1'], ['constructor', 'x'], ['toString', 'y']),
      LIMIT,
    )) as Record<string, unknown>;
    expect(Object.getPrototypeOf(body)).toBeNull();
    expect(Object.keys(body)).toEqual(['__proto__', 'constructor', 'toString']);
    expect('admin' in {}).toBe(false);
  });

  test.each([
    [
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
    [
      [
        ['a', '1'],
        ['a[b]', '2'],
      ],
    ],
    [
      [
        ['a[b]', '1'],
        ['a', '2'],
      ],
    ],
    [
      [
        ['a[]', '1'],
        ['a', '2'],
      ],
    ],
    [
      [
        ['a', '1'],
        ['a[]', '2'],
      ],
    ],
    [
      [
        ['a[]', '1'],
        ['a[b]', '2'],
      ],
    ],
    [
      [
        ['a[b]', '1'],
        ['a[b]', '2'],
      ],
    ],
  ] as [string, string][][][])('rejects a duplicate field: %j', async (entries) => {
    const error = await errorOf(form(...entries));
    expect(error).toMatchObject({ kind: 'invalid_request', code: 'invalid_value', param: entries[1]?.[0] });
  });

  test.each(['boundary=b', 'boundary="b"', 'charset=utf-8; BOUNDARY=b'])(
    'rejects too many parts before parsing: %s',
    async (type) => {
      // The parser would fail at the first part, since these parts have no header.
      const body = Buffer.from('--b\r\n\r\n'.repeat(1002));
      const { message } = await errorOf(chunked([body], `multipart/form-data; ${type}`), 1e6);
      expect(message).toContain('at most 1000 fields');
    },
  );

  test('accepts the maximum number of parts', async () => {
    const entries = Array.from({ length: 1000 }, (_, at): [string, string] => [`f${at}`, '']);
    expect(Object.keys((await readBody(form(...entries), 1e6)) ?? {})).toHaveLength(1000);
  });

  test('rejects too many fields and too many levels of nesting', async () => {
    const many = Array.from({ length: 1001 }, (_, at): [string, string] => [`f${at}`, '']);
    expect((await errorOf(form(...many), 1e6)).message).toContain('at most 1000 fields');
    expect((await errorOf(form([`a${'[b]'.repeat(5000)}`, '']))).message).toContain('at most 8 levels');
  });

  test.each([
    ['no boundary', 'multipart/form-data', 'x'],
    [
      'another boundary',
      'multipart/form-data; boundary=b',
      '--c\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--c--\r\n',
    ],
    [
      'truncated',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1',
    ],
    ['text', 'multipart/form-data; boundary=b', 'hello'],
  ])('rejects a malformed form: %s', async (_, type, text) => {
    expect((await errorOf(json(text, type))).message).toBe('The request body is not a valid multipart form.');
  });
});

describe('a content coding', () => {
  const coded = (coding: string, body: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
    new Request(URL, { method: 'POST', body, headers: { 'content-type': type, 'content-encoding': coding } });

  test.each(['identity', 'Identity', '', 'identity, identity'])(
    'is accepted if it does not encode the body: %j',
    async (coding) => {
      expect(await readBody(coded(coding, '{"a":1}'), LIMIT)).toEqual({ a: 1 });
    },
  );

  test.each(['gzip', 'GZIP', 'br', 'deflate', 'zstd', 'x-unknown', 'identity, gzip'])(
    'is rejected if it encodes the body: %s',
    async (coding) => {
      for (const body of [Bun.gzipSync('{"a":1}'), '{"a":1}']) {
        const error = await errorOf(coded(coding, body));
        expect(error).toMatchObject({ kind: 'unsupported_media_type', param: 'Content-Encoding' });
        expect(error.message).toContain("'identity'");
      }
    },
  );
});

describe('limit', () => {
  test('applies exactly, with and without content-length', async () => {
    const body = `{"a":"${'x'.repeat(92)}"}`;
    const bytes = new TextEncoder().encode(body);
    expect(bytes.length).toBe(100);
    for (const make of [
      () => json(body),
      () => chunked([bytes.slice(0, 50), bytes.slice(50)], 'application/json'),
    ]) {
      expect(await readBody(make(), 100)).toEqual({ a: 'x'.repeat(92) });
      expect(await errorOf(make(), 99)).toMatchObject({
        kind: 'payload_too_large',
        code: 'payload_too_large',
      });
    }
  });

  test('stops reading at the limit', async () => {
    let pulls = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulls += 1;
        controller.enqueue(new Uint8Array(10));
      },
    });
    const request = new Request(URL, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    await errorOf(request, 100);
    expect(pulls).toBeLessThan(20);
  });
});
