import { describe, expect, test } from 'vitest';
import { CONVERSATION } from '../../../test/harness/realtime-app.ts';
import { type ConversationRequest, requestEffects } from './client-commands.ts';
import { parseConversationFrame } from './client-events.ts';
import { type ConversationSession, initialConversationSession, type MergeContext } from './session.ts';

const SESSION = initialConversationSession('sess_1', CONVERSATION, 0);
const CONTEXT: MergeContext = { model: CONVERSATION, lookup: undefined, hasSpoken: false };

/** The effects of a frame, or the code and the param of the error that rejects it. */
function effectsOf(
  frame: object,
  session: ConversationSession = SESSION,
  context: Partial<MergeContext> = {},
) {
  const parsed = parseConversationFrame(JSON.stringify(frame));
  if ('error' in parsed) return `${parsed.openaiCode} ${parsed.error.param}`;
  return requestEffects(session, parsed.event as ConversationRequest, { ...CONTEXT, ...context });
}

/** The command of a frame, or its errors. */
function commandOf(frame: object, context: Partial<MergeContext> = {}) {
  const effects = effectsOf(frame, SESSION, context);
  if (typeof effects === 'string') return effects;
  return effects.command ?? effects.errors.map(({ code, param }) => `${code} ${param}`);
}

const created = (item: object, more: object = {}) =>
  commandOf({ type: 'conversation.item.create', item, ...more });
const responded = (response: unknown, context: Partial<MergeContext> = {}) =>
  commandOf({ type: 'response.create', response }, context);

describe('conversation.item.create', () => {
  const COMMON = { id: 'mine', object: 'realtime.item', status: 'completed' };
  test.each<[string, object, object]>([
    [
      'a text of the user, without a type',
      { role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
    ],
    [
      'audio of the user, without its bytes',
      { type: 'message', role: 'user', content: [{ type: 'input_audio', audio: 'AAAA' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_audio', transcript: null }] },
    ],
    [
      'an image of the user',
      { role: 'user', content: [{ type: 'input_image', image_url: 'data:,' }, { type: 'input_image' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'data:,' }] },
    ],
    [
      'a system message',
      { role: 'system', content: [{ type: 'input_text', text: 'Be kind.' }] },
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be kind.' }] },
    ],
    ...['text', 'output_text', 'input_text'].map((type): [string, object, object] => [
      `a text of the assistant of the type ${type}`,
      { type: 'message', role: 'assistant', content: [{ type, text: 'Hello.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] },
    ]),
    ...['audio', 'output_audio'].map((type): [string, object, object] => [
      `a transcript of the assistant of the type ${type}`,
      { type: 'message', role: 'assistant', content: [{ type, transcript: 'Hello.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] },
    ]),
    [
      'a call with empty arguments',
      { type: 'function_call', name: 'f', arguments: '', call_id: 'call_of_another_session' },
      { type: 'function_call', name: 'f', arguments: '{}', call_id: 'call_of_another_session' },
    ],
    [
      'an output',
      { type: 'function_call_output', call_id: 'c', output: '{}', more: 1 },
      { type: 'function_call_output', call_id: 'c', output: '{}' },
    ],
  ])('accepts %s', (_, item, expected) => {
    expect(created({ id: 'mine', ...item })).toEqual({
      kind: 'create_item',
      previousItemId: undefined,
      item: { ...COMMON, ...expected },
    });
  });

  test.each([
    ['32 hex digits', '0123456789abcdef0123456789abcdef'],
    ['an id of another session', 'msg_67ccf7'],
  ])('keeps %s', (_, id) => {
    expect(created({ id, role: 'user', content: [] })).toMatchObject({ item: { id } });
  });

  test('creates missing ids', () => {
    expect(created({ type: 'function_call', name: 'f', arguments: '{}' })).toMatchObject({
      item: { id: expect.stringMatching(/^item_/), call_id: expect.stringMatching(/^call_/) },
    });
  });

  test.each([
    ['root', 'root'],
    ['a', 'a'],
    [null, undefined],
  ])('has the position %j', (previous_item_id, previousItemId) => {
    expect(created({ role: 'user', content: [] }, { previous_item_id })).toMatchObject({ previousItemId });
  });

  test('rejects an output that is too long', () => {
    const output = 'x'.repeat(CONVERSATION.maxToolOutputCharacters + 1);
    expect(created({ type: 'function_call_output', call_id: 'c', output })).toEqual([
      'string_above_max_length item.output',
    ]);
  });

  const CREATE = { type: 'conversation.item.create' };
  const CALL = { type: 'function_call', name: 'f', arguments: '{}' };
  test.each<[object, string]>([
    [CREATE, 'missing_required_parameter item'],
    [{ type: 'conversation.item.create', item: { role: 'user' } }, 'missing_required_parameter item.content'],
    [{ type: 'conversation.item.create', item: { type: 'mcp_call' } }, 'invalid_value item.type'],
    [{ ...CREATE, item: { ...CALL, name: '' } }, 'invalid_value item.name'],
    [{ ...CREATE, item: { ...CALL, call_id: '' } }, 'invalid_value item.call_id'],
    [{ type: 'conversation.item.delete' }, 'missing_required_parameter item_id'],
    [
      { type: 'conversation.item.truncate', item_id: 'a', content_index: 0 },
      'missing_required_parameter audio_end_ms',
    ],
    [
      { type: 'conversation.item.truncate', item_id: 'a', content_index: 0, audio_end_ms: 12.5 },
      'invalid_value audio_end_ms',
    ],
    [{ type: 'response.create', response: { conversation: 'other' } }, 'invalid_value response.conversation'],
    [{ type: 'dance' }, 'invalid_value type'],
    [{}, 'missing_required_parameter type'],
  ])('%j is rejected', (frame, error) => {
    expect(effectsOf(frame)).toBe(error);
  });
});

describe('response.create', () => {
  test('without fields has the settings of the session', () => {
    expect(commandOf({ type: 'response.create' })).toEqual({
      kind: 'create_response',
      input: undefined,
      params: { settings: SESSION.settings, voiceName: 'alloy', isOutOfBand: false, metadata: null },
    });
  });

  test('replaces settings for one response', () => {
    const response = {
      instructions: 'Only this.',
      output_modalities: ['text'],
      max_output_tokens: 7,
      tools: [{ type: 'function', name: 'f' }],
      tool_choice: 'f',
      metadata: { a: 1 },
      conversation: 'none',
      reasoning: { effort: 'low' },
      parallel_tool_calls: false,
      audio: { output: { format: { type: 'audio/pcmu' }, voice: 'marin' } },
    };
    expect(responded(response)).toMatchObject({
      params: {
        isOutOfBand: true,
        metadata: { a: 1 },
        voiceName: 'marin',
        settings: {
          instructions: 'Only this.',
          modality: 'text',
          maxOutputTokens: 7,
          reasoningEffort: 'low',
          toolChoice: { name: 'f' },
          parallelToolCalls: false,
          outputFormat: { encoding: 'mulaw', rateHz: 8000 },
        },
      },
    });
  });

  test('accepts the names of the beta protocol', () => {
    const response = {
      modalities: ['text'],
      voice: 'cedar',
      output_audio_format: 'g711_alaw',
      temperature: 0.7,
    };
    expect(responded(response)).toMatchObject({
      params: {
        voiceName: 'cedar',
        settings: { modality: 'text', temperature: 0.7, outputFormat: { encoding: 'alaw' } },
      },
    });
  });

  test('takes all tools away with an empty list', () => {
    const tools = [{ type: 'function', name: 'f' }];
    const update = effectsOf({ type: 'session.update', session: { tools, tool_choice: 'f' } });
    if (typeof update === 'string') throw new Error(update);
    expect(effectsOf({ type: 'response.create', response: { tools: [] } }, update.session)).toMatchObject({
      command: { params: { settings: { tools: [], toolChoice: 'auto' } } },
    });
  });

  test('reads null as omitted', () => {
    const nulls = {
      instructions: null,
      output_modalities: null,
      tools: null,
      input: null,
      conversation: null,
      metadata: null,
      audio: { output: { voice: null, format: null } },
    };
    expect(responded(nulls)).toEqual(commandOf({ type: 'response.create' }));
    expect(responded(null)).toEqual(commandOf({ type: 'response.create' }));
  });

  test('has its own items and references as context', () => {
    const input = [
      { type: 'item_reference', id: 'mine' },
      { type: 'message', id: 'own', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
    ];
    expect(responded({ input })).toMatchObject({ input: [{ reference: 'mine' }, { id: 'own' }] });
    expect(responded({ input: [] })).toMatchObject({ input: [] });
  });

  test('ignores unknown fields', () => {
    const unknown = { commit: true, audio: { output: { gain: 1 }, input: { gain: 1 } } };
    expect(responded(unknown)).toEqual(commandOf({ type: 'response.create' }));
  });

  test.each<[object, string]>([
    [{ tools: [{ type: 'mcp' }] }, 'unsupported_feature response.tools.0.type'],
    [{ tool_choice: 'gone', instructions: 7 }, 'invalid_value response.tool_choice'],
    [{ audio: { output: { voice: 'nobodys' } } }, 'invalid_value response.audio.output.voice'],
    [
      { audio: { output: { format: { type: 'audio/opus' } } } },
      'unsupported_feature response.audio.output.format.type',
    ],
  ])('%j has one error and no response', (response, error) => {
    expect(responded(response)).toEqual([error]);
  });

  test('accepts a stored voice that exists', () => {
    const voice = 'tts-vc-voice_1';
    expect(responded({ audio: { output: { voice } } }, { lookup: 'found' })).toMatchObject({
      params: { voiceName: voice, settings: { voice } },
    });
    const spoken = { lookup: 'found', hasSpoken: true } as const;
    expect(responded({ audio: { output: { voice } } }, spoken)).toEqual([
      'cannot_update_voice response.audio.output.voice',
    ]);
  });
});

test.each<[object, object]>([
  [{ type: 'input_audio_buffer.commit' }, { kind: 'commit' }],
  [{ type: 'input_audio_buffer.clear' }, { kind: 'clear' }],
  [
    { type: 'conversation.item.delete', item_id: 'a' },
    { kind: 'delete_item', itemId: 'a' },
  ],
  [
    { type: 'conversation.item.retrieve', item_id: 'a' },
    { kind: 'retrieve_item', itemId: 'a' },
  ],
  [
    { type: 'conversation.item.truncate', item_id: 'a', content_index: 0, audio_end_ms: 7 },
    { kind: 'truncate_item', itemId: 'a', audioEndMs: 7 },
  ],
  [{ type: 'response.cancel' }, { kind: 'cancel_response', responseId: undefined }],
  [
    { type: 'response.cancel', response_id: 'resp_1' },
    { kind: 'cancel_response', responseId: 'resp_1' },
  ],
])('%j is a command', (frame, command) => {
  expect(commandOf(frame)).toEqual(command);
});

test('output_audio_buffer.clear is refused over WebSocket', () => {
  expect(commandOf({ type: 'output_audio_buffer.clear' })).toEqual(['invalid_value type']);
});
