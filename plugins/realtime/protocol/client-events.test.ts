import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { schemaArbitrary } from '../../../test/generators/schema-arbitrary.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { clientEventError } from '../../../tools/trace-check/frame-schema.ts';
import { BETA_SESSION_UPDATE_DOC, CLIENT_EVENT_DOCS } from '../docs/events.ts';
import { MAX_DEPTH, MAX_EVENT_CHARACTERS, MAX_EVENT_ID_CHARACTERS, MAX_VALUES } from '../limits.ts';
import { CLIENT_EVENT_SCHEMAS, parseClientFrame } from './client-events.ts';

const parse = (event: unknown) => parseClientFrame(JSON.stringify(event));
const item = (fields: object) => ({ type: 'conversation.item.create', item: fields });
const user = (...content: unknown[]) => item({ type: 'message', role: 'user', content });
const append = (audio: string) => ({ type: 'input_audio_buffer.append', audio });

/** The accepted event, as a client sends it. */
function accepted(sent: unknown): unknown {
  const parsed = parse(sent);
  if ('error' in parsed) throw new Error(parsed.error.message);
  const { event } = parsed;
  return event.type === 'input_audio_buffer.append' ? { ...event, audio: event.audio.toBase64() } : event;
}

/** Field and message of an error. */
function error(frame: string | Uint8Array): readonly [param: string | null, message: string] {
  const parsed = parseClientFrame(frame);
  if (!('error' in parsed)) throw new Error('The frame was not refused.');
  expect(parsed.error.code).toBe('invalid_request_error');
  return [parsed.error.param, parsed.error.message];
}

describe('accepted events', () => {
  it.each(Object.entries(CLIENT_EVENT_DOCS))('%s, as documented', (_, { example }) => {
    expect(accepted(example)).toEqual(example);
  });

  it('the beta name of session.update, as a session.update', () => {
    const { session } = BETA_SESSION_UPDATE_DOC.example;
    expect(parse({ ...BETA_SESSION_UPDATE_DOC.example, event_id: 'c1' })).toEqual({
      event: { type: 'session.update', event_id: 'c1', session },
    });
  });

  it.each([
    ['an unknown field', { type: 'input_audio_buffer.commit', added_in: 2031 }],
    [
      'an unknown field in an item',
      item({ role: 'user', content: [{ type: 'input_text', text: 'Hi', mood: 1 }], phase: 2 }),
    ],
    ['an item without a type', item({ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] })],
    ['an item without content', user()],
    ['a system item', item({ role: 'system', content: [{ type: 'input_text', text: 'Be kind' }] })],
    [
      'an assistant item with the names of the specification',
      item({ role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }),
    ],
    [
      'an assistant item with the GA names',
      item({ role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }),
    ],
    ['audio', user({ type: 'input_audio', audio: 'AAAA' })],
    ['audio with null', user({ type: 'input_audio', audio: null, transcript: null })],
    ['an image', user({ type: 'input_image', image_url: 'data:image/png;base64,AA==' })],
    ['a function call', item({ type: 'function_call', name: 'f', arguments: '{}', call_id: 'c' })],
    ['a function call output', item({ type: 'function_call_output', call_id: 'c', output: '{}' })],
    [
      'optional fields with null',
      { ...item({ role: 'user', content: [], status: null }), previous_item_id: null },
    ],
    ['a position', { ...user(), previous_item_id: 'root' }],
    ['a null response', { type: 'response.create', response: null }],
    ['overrides', { type: 'response.create', response: { modalities: ['text'], model: 'x', input: [[]] } }],
    ['a cancel with an id', { type: 'response.cancel', response_id: 'resp_1' }],
    ['an empty append', append('')],
    ['an empty session', { type: 'session.update', session: {} }],
    ['any session', { type: 'session.update', session: { audio: 7, x: [null], type: {} } }],
    [
      'an id of the maximum length',
      { type: 'input_audio_buffer.clear', event_id: 'é'.repeat(MAX_EVENT_ID_CHARACTERS) },
    ],
    ['an empty id', { type: 'input_audio_buffer.clear', event_id: '' }],
    ['a null id', { type: 'input_audio_buffer.clear', event_id: null }],
    ['a lone surrogate and NUL', user({ type: 'input_text', text: 'a\ud83d\u0000' })],
  ])('%s', (_, event) => {
    expect(accepted(event)).toEqual(event);
  });

  it('every event that matches its schema, if its audio is base64', () => {
    const events = fc.oneof(...[...CLIENT_EVENT_SCHEMAS.values()].map(schemaArbitrary));
    fc.assert(
      fc.property(events, fc.uint8Array(), (matching, bytes) => {
        expect(clientEventError(matching)).toBeUndefined();
        const event = matching as { type: string; audio?: string };
        if (event.type === 'input_audio_buffer.append') event.audio = bytes.toBase64();
        const type = event.type.replace('transcription_session', 'session');
        expect(accepted(event)).toEqual({ ...event, type });
      }),
      { numRuns: repetitions(334, 1000) },
    );
  });

  it('an append, with its audio as bytes', () => {
    expect(parse({ ...append('AAEC'), event_id: 'c1' })).toEqual({
      event: { type: 'input_audio_buffer.append', event_id: 'c1', audio: Uint8Array.of(0, 1, 2) },
    });
  });
});

describe('rejected frames', () => {
  it('a binary frame with any content', () => {
    const [param, message] = error(new TextEncoder().encode('{"type":"input_audio_buffer.commit"}'));
    expect(param).toBeNull();
    expect(message).toContain('Binary frames are not accepted');
  });

  it.each([
    '',
    ' ',
    '{',
    'hello',
    '{"type":"input_audio_buffer.commit"',
    "{'type':1}",
    '\ufeff{}',
    '{"a":NaN}',
    '\u0000',
  ])('%j, which is not JSON', (frame) => {
    expect(error(frame)).toEqual([null, 'The frame is not valid JSON.']);
  });

  it.each(['null', '[]', '[{"type":"input_audio_buffer.commit"}]', '"text"', '5', '1e999', 'true'])(
    '%s, which is not an object',
    (frame) => {
      expect(error(frame)).toEqual(['type', "The frame must be a JSON object with a 'type'."]);
    },
  );

  it.each([
    ['no type', {}, "'type' is required and must be one of"],
    ['null', { type: null }, "'type' must be one of"],
    ['a number', { type: 7 }, "'type' must be one of"],
    ['a list', { type: ['session.update'] }, "'type' must be one of"],
    ['an unknown name', { type: 'response.pause' }, "'type' must be one of"],
    ['a server event', { type: 'session.created', session: {} }, "'type' must be one of"],
    ['capitals', { type: 'Session.Update', session: {} }, "'type' must be one of"],
    ['a property of every object', { type: 'toString' }, "'type' must be one of"],
  ])('%s as the type, with a list of all types', (_, event, begin) => {
    const [param, message] = error(JSON.stringify(event));
    expect(param).toBe('type');
    expect(message.startsWith(begin)).toBe(true);
    for (const type of CLIENT_EVENT_SCHEMAS.keys()) expect(message).toContain(`"${type}"`);
  });

  it.each([
    [{ type: 'session.update' }, 'session', 'is required and must be an object'],
    [{ type: 'session.update', session: null }, 'session', 'must be an object'],
    [{ type: 'session.update', session: [] }, 'session', 'must be an object'],
    [{ type: 'session.update', session: 'x' }, 'session', 'must be an object'],
    [{ type: 'transcription_session.update' }, 'session', 'is required and must be an object'],
    [{ type: 'input_audio_buffer.append' }, 'audio', 'is required and must be a string'],
    [{ ...append(''), audio: null }, 'audio', 'must be a string'],
    [{ ...append(''), audio: [0, 1] }, 'audio', 'must be a string'],
    [{ ...append(''), audio: 7 }, 'audio', 'must be a string'],
    [{ type: 'conversation.item.create' }, 'item', 'is required and must be an object'],
    [item([]), 'item', 'must be an object'],
    [{ ...item({}), item: null }, 'item', 'must be an object'],
    [item({}), 'item.role', 'is required and must be one of "user", "system", "assistant"'],
    [
      item({ type: 'message', role: 'tool', content: [] }),
      'item.role',
      'must be one of "user", "system", "assistant"',
    ],
    [
      item({ type: 'message', role: null, content: [] }),
      'item.role',
      'must be one of "user", "system", "assistant"',
    ],
    [
      item({ type: 'mcp_call' }),
      'item.type',
      'must be one of "message", "function_call", "function_call_output"',
    ],
    [item({ type: 7 }), 'item.type', 'must be one of "message", "function_call", "function_call_output"'],
    [item({ role: 'user' }), 'item.content', 'is required and must be a list, each an object'],
    [item({ role: 'user', content: 'Hi' }), 'item.content', 'must be a list, each an object'],
    [
      item({ role: 'user', content: { type: 'input_text' } }),
      'item.content',
      'must be a list, each an object',
    ],
    [item({ role: 'user', content: [], id: '' }), 'item.id', 'must be a string of 1 to 512 characters'],
    [item({ role: 'user', content: [], id: 7 }), 'item.id', 'must be a string of 1 to 512 characters'],
    [user('Hi'), 'item.content.0', 'must be an object'],
    [
      user({ text: 'Hi' }),
      'item.content.0.type',
      'is required and must be one of "input_text", "input_audio", "input_image"',
    ],
    [
      user({ type: 'audio' }),
      'item.content.0.type',
      'must be one of "input_text", "input_audio", "input_image"',
    ],
    [
      item({ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }),
      'item.content.0.type',
      'must be one of "text", "output_text", "audio", "output_audio"',
    ],
    [
      item({ role: 'system', content: [{ type: 'input_audio', text: 'x' }] }),
      'item.content.0.type',
      'must be "input_text"',
    ],
    [
      user({ type: 'input_text', text: 'Hi' }, { type: 'input_text' }),
      'item.content.1.text',
      'is required and must be a string',
    ],
    [user({ type: 'input_text', text: null }), 'item.content.0.text', 'must be a string'],
    [item({ type: 'function_call_output', output: '' }), 'item.call_id', 'is required and must be a string'],
    [{ ...user(), previous_item_id: 7 }, 'previous_item_id', 'must be a string or null'],
    [{ type: 'response.create', response: [] }, 'response', 'must be an object or null'],
    [{ type: 'response.create', response: 'x' }, 'response', 'must be an object or null'],
    [{ type: 'response.cancel', response_id: {} }, 'response_id', 'must be a string or null'],
    [{ type: 'conversation.item.delete' }, 'item_id', 'is required and must be a string'],
    [{ type: 'conversation.item.retrieve', item_id: 1 }, 'item_id', 'must be a string'],
    [
      { type: 'conversation.item.truncate', item_id: 'a', content_index: 0.5, audio_end_ms: 0 },
      'content_index',
      'must be an integer of at least 0',
    ],
    [
      { type: 'conversation.item.truncate', item_id: 'a', content_index: 0, audio_end_ms: -1 },
      'audio_end_ms',
      'must be an integer of at least 0',
    ],
    [
      { type: 'input_audio_buffer.commit', event_id: 7 },
      'event_id',
      'must be a string of at most 512 characters or null',
    ],
    [
      { type: 'input_audio_buffer.commit', event_id: 'x'.repeat(MAX_EVENT_ID_CHARACTERS + 1) },
      'event_id',
      'must be a string of at most 512 characters or null',
    ],
  ])('%j', (event, param, problem) => {
    expect(error(JSON.stringify(event))).toEqual([param, `${event.type} rejected: '${param}' ${problem}.`]);
  });

  it('a number that is out of range', () => {
    const frame =
      '{"type":"conversation.item.truncate","item_id":"a","content_index":1e999,"audio_end_ms":0}';
    expect(error(frame)[0]).toBe('content_index');
  });

  it('audio that is not base64', () => {
    expect(parse({ ...append('AA*'), event_id: 'c1' })).toEqual({
      error: {
        code: 'invalid_request_error',
        message: expect.stringMatching(/^'audio' must be base64 \(RFC 4648, section 4\): .*\.$/),
        param: 'audio',
      },
      openaiCode: 'invalid_value',
      eventId: 'c1',
    });
  });

  it('do not repeat client data', () => {
    const secret = 'my private diary';
    for (const event of [
      { type: secret },
      { type: 'session.update', session: secret },
      { ...append(''), audio: { [secret]: secret } },
      append(secret),
      user({ type: secret, text: secret }),
      item({ role: secret }),
      { type: 'input_audio_buffer.commit', event_id: [secret] },
    ]) {
      expect(JSON.stringify(parse(event))).not.toContain(secret);
    }
  });
});

describe('the event_id of an error', () => {
  const idOf = (frame: string) => {
    const parsed = parseClientFrame(frame);
    return 'error' in parsed ? parsed.eventId : 'accepted';
  };

  it.each([
    ['is that of the event', '{"type":"nope","event_id":"c1"}', 'c1'],
    ['with any other error', '{"event_id":"c1"}', 'c1'],
    ['with a lone surrogate', '{"event_id":"\\ud83d"}', '\ud83d'],
    ['is null without one', '{"type":"nope"}', null],
    ['is null for a number', '{"type":"nope","event_id":1}', null],
    ['is null for one that is too long', `{"type":"nope","event_id":"${'x'.repeat(513)}"}`, null],
    ['is null for a frame that is not JSON', '{"event_id":"c1"', null],
    ['is null for a list', '[{"event_id":"c1"}]', null],
    ['is not read from a prototype', '{"__proto__":{"event_id":"c1"}}', null],
  ])('%s', (_, frame, expected) => {
    expect(idOf(frame)).toBe(expected);
  });
});

describe('malicious frames', () => {
  it('cannot use __proto__', () => {
    const frame =
      '{"__proto__":{"type":"input_audio_buffer.commit","polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    expect(error(frame)[0]).toBe('type');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it.each([
    ['100,000 lists', '['.repeat(100_000)],
    ['100,000 lists that end', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['33 MB of lists', '['.repeat(33_000_000)],
    ['33 MB of entries', `[${'1,'.repeat(16_500_000)}1]`],
    ['100,000 objects in a session', nested('{"a":', '}', 100_000)],
    ['one entry too many', `[${'1,'.repeat(MAX_VALUES)}1]`],
  ])('with %s are rejected before they are parsed', (_, frame) => {
    expect(error(frame)[1]).toContain(`at most ${MAX_VALUES} commas and brackets`);
  });

  it('with the maximum number of values are parsed', () => {
    const session = `{"list":[${'1,'.repeat(MAX_VALUES - 10)}1]}`;
    expect(parseClientFrame(`{"type":"session.update","session":${session}}`)).toHaveProperty('event');
  });

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('may be nested with %s up to the limit', (left, right) => {
    // The event and the session are two levels.
    expect(parseClientFrame(nested(left, right, MAX_DEPTH - 2))).toHaveProperty('event');
    for (const levels of [MAX_DEPTH - 1, 1000, 20_000]) {
      expect(error(nested(left, right, levels))[1]).toContain(`at most ${MAX_DEPTH} levels deep`);
    }
  });

  it('are limited in length, except appends', () => {
    const long = (type: string, rest: string) =>
      `{"type":"${type}",${rest},"pad":"${'x'.repeat(MAX_EVENT_CHARACTERS)}"}`;
    expect(parseClientFrame(long('input_audio_buffer.append', '"audio":""'))).toHaveProperty('event');
    expect(error(long('session.update', '"session":{}'))[1]).toContain(
      `session.update rejected: the event may have at most ${MAX_EVENT_CHARACTERS} characters`,
    );
    const [begin, end] = ['{"type":"input_audio_buffer.commit","pad":"', '"}'];
    const pad = (characters: number) => `${begin}${'x'.repeat(characters - begin.length - end.length)}${end}`;
    expect(parseClientFrame(pad(MAX_EVENT_CHARACTERS))).toHaveProperty('event');
    expect(error(pad(MAX_EVENT_CHARACTERS + 1))[0]).toBeNull();
  });

  it('may be appends of the maximum size', () => {
    const frame = JSON.stringify(append('A'.repeat(35_000_000)));
    expect(parseClientFrame(frame)).toHaveProperty('event.audio.length', (35_000_000 / 4) * 3);
  });

  it('never cause an exception, and accepted frames are valid', () => {
    const types = fc.constantFrom(...CLIENT_EVENT_SCHEMAS.keys(), 'x');
    const odd = fc.jsonValue({ maxDepth: 4, noUnicodeString: false });
    const names = fc.constantFrom(
      'event_id',
      'session',
      'audio',
      'item',
      'response',
      'item_id',
      '__proto__',
      'a',
    );
    const fields = fc.dictionary(names, odd, { maxKeys: 4 });
    const almost = fc
      .record({ type: types, fields })
      .map(({ type, fields }) => JSON.stringify({ type, ...fields }));
    const items = fc
      .record(
        {
          role: fc.constantFrom('user', 'assistant', 'system', 7),
          content: fc.oneof(
            odd,
            fc.array(fc.record({ type: fc.constantFrom('input_text', 'audio'), text: odd })),
          ),
          type: odd,
        },
        { requiredKeys: [] },
      )
      .map((fields) => JSON.stringify(item(fields)));
    const broken = fc.tuple(almost, fc.nat(), fc.string()).map(([frame, at, put]) => {
      const index = at % (frame.length + 1);
      return frame.slice(0, index) + put + frame.slice(index + 1);
    });
    fc.assert(
      fc.property(
        fc.oneof(almost, items, broken, fc.string({ unit: 'binary' }), fc.uint8Array()),
        (frame) => {
          const parsed = parseClientFrame(frame);
          if ('event' in parsed) {
            const sent: unknown = JSON.parse(String(frame));
            expect(clientEventError(sent)).toBeUndefined();
          } else {
            const begin = /^(The |Binary |An |'type'|'audio' must be base64|\w+(\.\w+)+ rejected: ).*\.$/s;
            expect(parsed.error.message).toMatch(begin);
          }
        },
      ),
      { numRuns: repetitions(334, 1000) },
    );
  });

  function nested(left: string, right: string, levels: number): string {
    const inner = `${left.repeat(levels)}1${right.repeat(levels)}`;
    return `{"type":"session.update","session":{"x":${inner}}}`;
  }
});
