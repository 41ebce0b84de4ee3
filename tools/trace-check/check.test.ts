import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  CONVERSATION_RULES,
  check,
  checkTrace,
  initial,
  isQuiet,
  parseTraceLine,
  RULES,
  type TraceEntry,
} from './check.ts';
import { SeenIds } from './rules/seen-ids.ts';

/** Uses the example sequences of the event reference (openai-wire 8.10), with omitted fields from its tables. */

type Frame = Readonly<Record<string, unknown>>;

const SESSION = {
  id: 'sess_1',
  object: 'realtime.session',
  type: 'transcription',
  audio: {
    input: {
      format: { type: 'audio/pcm', rate: 24_000 },
      transcription: { model: 'svc-stt' },
      turn_detection: null as unknown,
      noise_reduction: null,
    },
    output: { format: { type: 'audio/pcm', rate: 24_000 } },
  },
  output_modalities: [] as string[],
  tts_model: 'svc-tts',
};
const { audio } = SESSION;
const VAD = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 400 };
const detecting = { ...SESSION, audio: { ...audio, input: { ...audio.input, turn_detection: VAD } } };
const speaking = { ...SESSION, output_modalities: ['audio'] };
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

/** A trace of client frames `>` and server frames `<`. Adds the event ids of the server. */
function traced(...frames: readonly (readonly ['>' | '<', Frame] | 'quiet')[]): TraceEntry[] {
  return frames.map((frame, index): TraceEntry => {
    if (frame === 'quiet') return { end: 'quiet' };
    const [side, fields] = frame;
    return side === '>'
      ? { from: 'client', frame: fields }
      : { from: 'server', frame: { event_id: `event_${index}`, ...fields } };
  });
}

const created = ['<', { type: 'session.created', session: SESSION }] as const;
const append = ['>', { type: 'input_audio_buffer.append', audio: 'AAAA' }] as const;

const USAGE = {
  type: 'tokens',
  total_tokens: 27,
  input_tokens: 22,
  output_tokens: 5,
  input_token_details: { text_tokens: 0, audio_tokens: 22 },
};

const manualCommit = traced(
  created,
  ['>', { type: 'session.update', event_id: 'c1', session: { tts_model: 'svc-tts' } }],
  ['<', { type: 'session.updated', session: SESSION }],
  append,
  append,
  ['>', { type: 'input_audio_buffer.commit' }],
  ['<', { type: 'input_audio_buffer.committed', item_id: 'item_1', previous_item_id: null }],
  ['<', { type: `${TRANSCRIPTION}.delta`, item_id: 'item_1', content_index: 0, delta: 'turn on ' }],
  ['<', { type: `${TRANSCRIPTION}.delta`, item_id: 'item_1', content_index: 0, delta: 'the lights' }],
  [
    '<',
    {
      type: `${TRANSCRIPTION}.completed`,
      item_id: 'item_1',
      content_index: 0,
      transcript: 'turn on the lights',
      logprobs: null,
      usage: USAGE,
    },
  ],
  'quiet',
);

const serverVad = traced(
  created,
  append,
  ['>', { type: 'input_audio_buffer.commit' }],
  ['<', { type: 'input_audio_buffer.committed', item_id: 'item_1', previous_item_id: null }],
  [
    '>',
    {
      type: 'session.update',
      event_id: 'c2',
      session: { audio: { input: { noise_reduction: { type: 'near_field' }, turn_detection: VAD } } },
    },
  ],
  [
    '<',
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'unsupported_feature',
        message: 'noise_reduction is not supported',
        param: 'session.audio.input.noise_reduction',
        event_id: 'c2',
      },
    },
  ],
  ['<', { type: 'session.updated', session: detecting }],
  append,
  ['<', { type: 'input_audio_buffer.speech_started', item_id: 'item_2', audio_start_ms: 1180 }],
  [
    '<',
    { type: `${TRANSCRIPTION}.completed`, item_id: 'item_1', content_index: 0, transcript: '', usage: USAGE },
  ],
  ['<', { type: 'input_audio_buffer.speech_stopped', item_id: 'item_2', audio_end_ms: 3260 }],
  ['<', { type: 'input_audio_buffer.committed', item_id: 'item_2', previous_item_id: 'item_1' }],
  [
    '<',
    {
      type: `${TRANSCRIPTION}.failed`,
      item_id: 'item_2',
      content_index: 0,
      error: { type: 'server_error', code: 'upstream_error', message: 'transcription failed' },
    },
  ],
  'quiet',
);

const content = [{ type: 'input_text', text: 'Hello there.' }];
const userItem = {
  id: 'item_1',
  object: 'realtime.item',
  type: 'message',
  status: 'completed',
  role: 'user',
  content,
};
const RESPONSE = {
  object: 'realtime.response',
  id: 'resp_1',
  status: 'in_progress',
  status_details: null,
  output: [],
  conversation_id: 'conv_1',
  output_modalities: ['audio'],
  max_output_tokens: 'inf',
  audio: { output: { format: { type: 'audio/pcm', rate: 24_000 } } },
  usage: null,
  metadata: null,
};
const assistant = {
  id: 'item_2',
  object: 'realtime.item',
  type: 'message',
  status: 'in_progress',
  role: 'assistant',
  content: [],
};
const said = (type: string, status = 'completed', transcript = 'Hello there.') => ({
  ...assistant,
  status,
  content: [{ type, transcript }],
});
const location = { response_id: 'resp_1', item_id: 'item_2', output_index: 0, content_index: 0 };
const output = { response_id: 'resp_1', output_index: 0 };
const speechBegins = [
  created,
  ['>', { type: 'session.update', session: { output_modalities: ['audio'] } }],
  ['<', { type: 'session.updated', session: speaking }],
  ['>', { type: 'conversation.item.create', item: { role: 'user', content } }],
] as const;
const done = (status: string, details: unknown, item: Frame, usage: unknown) =>
  [
    '<',
    {
      type: 'response.done',
      response: { ...RESPONSE, status, status_details: details, output: [item], usage },
    },
  ] as const;

const speech = traced(
  ...speechBegins,
  ['<', { type: 'conversation.item.created', previous_item_id: null, item: userItem }],
  ['>', { type: 'response.create', event_id: 'c7' }],
  ['<', { type: 'response.created', response: RESPONSE }],
  ['<', { type: 'response.output_item.added', ...output, item: assistant }],
  ['<', { type: 'response.content_part.added', ...location, part: { type: 'audio', transcript: '' } }],
  ['<', { type: 'response.audio.delta', ...location, delta: 'AAAA' }],
  ['>', { type: 'response.create', event_id: 'c8' }],
  [
    '<',
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'response_in_progress',
        message: 'response.create rejected: a response is already in progress',
        param: null,
        event_id: 'c8',
      },
    },
  ],
  ['<', { type: 'response.audio_transcript.delta', ...location, delta: 'Hello ' }],
  ['<', { type: 'response.audio_transcript.delta', ...location, delta: 'there.' }],
  ['<', { type: 'response.audio_transcript.done', ...location, transcript: 'Hello there.' }],
  ['<', { type: 'response.audio.done', ...location }],
  [
    '<',
    { type: 'response.content_part.done', ...location, part: { type: 'audio', transcript: 'Hello there.' } },
  ],
  ['<', { type: 'response.output_item.done', ...output, item: said('audio') }],
  done('completed', null, said('audio'), { total_tokens: 40, input_tokens: 12, output_tokens: 28 }),
  'quiet',
);

const cancelledSpeech = traced(
  ...speechBegins,
  ['<', { type: 'conversation.item.created', previous_item_id: null, item: userItem }],
  ['>', { type: 'response.create' }],
  ['<', { type: 'response.created', response: RESPONSE }],
  ['<', { type: 'response.output_item.added', ...output, item: assistant }],
  ['>', { type: 'response.cancel' }],
  ['<', { type: 'response.content_part.added', ...location, part: { type: 'audio', transcript: '' } }],
  ['<', { type: 'response.audio.delta', ...location, delta: 'AAAA' }],
  ['<', { type: 'response.audio.done', ...location }],
  ['<', { type: 'response.content_part.done', ...location, part: { type: 'audio', transcript: '' } }],
  ['<', { type: 'response.output_item.done', ...output, item: said('audio', 'incomplete', '') }],
  done('cancelled', { type: 'cancelled', reason: 'client_cancelled' }, said('audio', 'incomplete', ''), null),
  'quiet',
);

const gaSpeech = traced(
  created,
  [
    '>',
    { type: 'session.update', session: { type: 'realtime', output_modalities: ['audio'], tracing: 'auto' } },
  ],
  ['>', { type: 'conversation.item.create', item: { type: 'message', role: 'user', content } }],
  ['>', { type: 'response.create', event_id: 'agents_js_response_create_1' }],
  ['<', { type: 'session.updated', session: { ...speaking, type: 'realtime' } }],
  ['<', { type: 'conversation.item.created', previous_item_id: null, item: userItem }],
  ['<', { type: 'conversation.item.added', previous_item_id: null, item: userItem }],
  ['<', { type: 'conversation.item.done', previous_item_id: null, item: userItem }],
  ['<', { type: 'response.created', response: RESPONSE }],
  ['<', { type: 'response.output_item.added', ...output, item: assistant }],
  ['<', { type: 'conversation.item.added', previous_item_id: 'item_1', item: assistant }],
  ['<', { type: 'response.content_part.added', ...location, part: { type: 'audio', transcript: '' } }],
  ['<', { type: 'response.output_audio.delta', ...location, delta: 'AAAA' }],
  ['<', { type: 'response.output_audio_transcript.delta', ...location, delta: 'Hello there.' }],
  ['<', { type: 'response.output_audio_transcript.done', ...location, transcript: 'Hello there.' }],
  ['<', { type: 'response.output_audio.done', ...location }],
  [
    '<',
    { type: 'response.content_part.done', ...location, part: { type: 'audio', transcript: 'Hello there.' } },
  ],
  ['<', { type: 'conversation.item.done', previous_item_id: 'item_1', item: said('output_audio') }],
  ['<', { type: 'response.output_item.done', ...output, item: said('output_audio') }],
  done('completed', null, said('output_audio'), { total_tokens: 40, input_tokens: 12, output_tokens: 28 }),
  'quiet',
);

const EXAMPLES = {
  'manual commit (A)': manualCommit,
  'server_vad, a refused field and a failed transcription (B)': serverVad,
  'speech, and a second create while it lasts (C)': speech,
  'speech that is cancelled (C)': cancelledSpeech,
  'speech with the GA names (D)': gaSpeech,
};

describe.each(Object.entries(EXAMPLES))('the example of %s', (_, trace) => {
  test('violates no rule', () => {
    expect(checkTrace(trace)).toEqual([]);
  });

  test('violates a rule if any server frame is missing or repeated', () => {
    for (const [index, entry] of trace.entries()) {
      if ('end' in entry || entry.from === 'client') continue;
      const twice = { ...entry, frame: { ...(entry.frame as Frame), event_id: 'event_again' } };
      const { type } = entry.frame as { type: string };
      // The duration of the audio is unknown.
      if (/audio\.delta$/.test(type)) continue;
      expect(checkTrace(trace.toSpliced(index + 1, 0, twice)), `${type} twice`).not.toEqual([]);
      expect(checkTrace(trace.toSpliced(index, 1)), `without ${type}`).not.toEqual([]);
    }
  });

  test('violates a rule if any two adjacent server frames are swapped', () => {
    for (const [index, entry] of trace.entries()) {
      const next = trace[index + 1];
      if ('end' in entry || next === undefined || 'end' in next) continue;
      if (entry.from === 'client' || next.from === 'client') continue;
      const types = [entry, next].map((each) => (each.frame as { type: string }).type);
      // A turn may overlap with another transcription, and an error with a response.
      const areApart =
        (types.includes('error') && types.some((type) => type.startsWith('response.'))) ||
        (types.some((type) => type.startsWith(TRANSCRIPTION)) && types.some((type) => /speech_/.test(type)));
      if (areApart || types[0] === types[1]) continue;
      expect(checkTrace(trace.with(index, next).with(index + 1, entry)), types.join(' and ')).not.toEqual([]);
    }
  });
});

test('a violation names the frame, the rule and its section', () => {
  const invalid = manualCommit.with(6, {
    from: 'server',
    frame: {
      type: 'input_audio_buffer.committed',
      event_id: 'event_6',
      item_id: 'item_1',
      previous_item_id: 'item_0',
    },
  });
  expect(checkTrace(invalid)).toEqual([
    {
      rule: 'item-chain',
      section: 'wire 8.5',
      index: 6,
      message: 'frame 6: previous_item_id must be null, not "item_0"',
    },
  ]);
});

test('check does not change the previous state', () => {
  const half = speech.slice(0, 9).reduce((state, entry) => check(state, entry).state, initial);
  for (const _ of [1, 2, 3]) {
    const rest = speech.slice(9).reduce(
      ({ state, found }, entry) => {
        const checked = check(state, entry);
        return { state: checked.state, found: [...found, ...checked.violations] };
      },
      { state: half, found: [] as unknown[] },
    );
    expect(rest.found).toEqual([]);
  }
  expect(isQuiet(half)).toBe(false);
});

test('an error that may answer either of two requests violates no rule', () => {
  const empty = (event_id: string | null) => ({
    type: 'error',
    error: {
      type: 'invalid_request_error',
      code: 'invalid_request_error',
      message: 'empty',
      param: null,
      event_id,
    },
  });
  const turn = (item: string, previous: string | null) =>
    [
      ['<', { type: 'input_audio_buffer.speech_started', item_id: item, audio_start_ms: 0 }],
      ['>', { type: 'input_audio_buffer.commit' }],
      ['<', { type: 'input_audio_buffer.speech_stopped', item_id: item, audio_end_ms: 10 }],
      ['<', { type: 'input_audio_buffer.committed', item_id: item, previous_item_id: previous }],
    ] as const;
  const opening = [created, ['>', { type: 'session.update', session: { turn_detection: VAD } }]] as const;
  const updated = ['<', { type: 'session.updated', session: detecting }] as const;
  const crossing = traced(...opening, updated, ...turn('item_1', null), ['<', empty(null)]);
  expect(checkTrace(crossing), 'the server ended the turn').toEqual([]);
  const committedByDetector = traced(...opening, updated, ...turn('item_1', null));
  expect(checkTrace(committedByDetector), 'the commit ended the turn').toEqual([]);
  const twice = traced(...opening, updated, ...turn('item_1', null), ['<', empty(null)], ['<', empty(null)]);
  expect(checkTrace(twice).map(({ rule }) => rule)).toEqual(['reply-unrequested']);
});

describe('parseTraceLine', () => {
  test.each([
    ['{"from":"client","frame":"text"}', { from: 'client', frame: 'text' }],
    [
      '{"connection":"a","at_ms":1.5,"from":"server","frame":null}',
      { connection: 'a', at_ms: 1.5, from: 'server', frame: null },
    ],
    ['{"end":"cut","connection":"a"}', { end: 'cut', connection: 'a' }],
  ])('parses %s', (line, entry) => {
    expect(parseTraceLine(line)).toEqual(entry);
  });

  test.each([
    ['', 'JSON'],
    ['7', 'must be a JSON object'],
    ['{"frame":{}}', '`from` must be "client" or "server"'],
    ['{"from":"client"}', '`frame` is missing'],
    ['{"end":"soon"}', '`end` must be "quiet" or "cut"'],
    ['{"from":"client","frame":1,"connection":7}', '`connection` must be a string'],
    ['{"from":"client","frame":1,"at_ms":"1"}', '`at_ms` must be a number'],
  ])('rejects %s: %s', (line, message) => {
    expect(() => parseTraceLine(line)).toThrow(message);
  });
});

test('every rule has a section and a description', () => {
  for (const [section, description] of Object.values(RULES)) {
    expect(section).toMatch(/^(spec|wire) \d/);
    expect(description.length).toBeGreaterThan(10);
  }
});

test('every rule of conversations has a section and a description', () => {
  for (const [section, description] of Object.values(CONVERSATION_RULES)) {
    expect(section).toMatch(/^talk \d/);
    expect(description.length).toBeGreaterThan(10);
  }
});

test('the rules of conversations import only each other and the parts of the other rules', () => {
  const folder = new URL('conversation/', import.meta.url);
  for (const name of readdirSync(folder)) {
    const imports = [...readFileSync(new URL(name, folder), 'utf8').matchAll(/from '(.+)'/g)];
    const others = imports.map(([, path]) => path).filter((path) => !/^\.(\.\/rules)?\//.test(path ?? ''));
    expect(others, name).toEqual([]);
  }
});

test('SeenIds are immutable: adding to an older set changes no other set', () => {
  const one = SeenIds.none.with('a').with('b');
  const two = one.with('c');
  const three = one.with('d');
  const contents = (ids: SeenIds) => ['a', 'b', 'c', 'd'].filter((id) => ids.has(id)).join('');
  expect([one, two, three].map(contents)).toEqual(['ab', 'abc', 'abd']);
  expect(SeenIds.none.size).toBe(0);
  expect(three.with('d')).toBe(three);
});

test('the rules import no state machine', () => {
  const folder = new URL('rules/', import.meta.url);
  for (const name of [
    'request-rules',
    'client-requests',
    'event-rules',
    'item-rules',
    'mirror',
    'response-rules',
    'turn-rules',
  ]) {
    const imports = [...readFileSync(new URL(`${name}.ts`, folder), 'utf8').matchAll(/from '(.+)'/g)];
    expect(imports.map(([, path]) => path).filter((path) => !path?.startsWith('./'))).toEqual([]);
  }
});
