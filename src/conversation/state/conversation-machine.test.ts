import { describe, expect, test } from 'vitest';
import {
  afterEvents,
  audio,
  ConversationScript,
  call,
  cancel,
  clause,
  command,
  committed,
  createItem,
  createResponse,
  dropped,
  ended,
  FAILURE,
  failed,
  idle,
  messageStarted,
  notTranscribed,
  params,
  rejected,
  retimed,
  SERVER_VAD,
  SETTINGS,
  speechStarted,
  speechStopped,
  spokenReply,
  spokenTurn,
  text,
  transcribed,
  truncate,
  userItem,
  words,
} from '../../../test/harness/conversation-machine.ts';
import type { ChatMessage } from '../../contract/engines/text.ts';
import type { Item } from '../items/item.ts';
import { PENDING_OUTPUT } from '../items/prompt.ts';
import type { ConversationSettings } from '../settings.ts';
import {
  type Event,
  expectedRequest,
  initial,
  MAX_OUT_OF_BAND,
  MAX_PENDING_TURNS,
  next,
  promptStart,
} from './conversation-machine.ts';

const vad = (changes: object): Partial<ConversationSettings> => ({
  turnDetection: { ...SERVER_VAD, ...changes },
});
const CONTINUED = vad({ interruptResponse: false });
const IDLE = vad({ idleTimeoutMs: 6000 });
const DRAIN: Event = { kind: 'drain_requested' };
const deleted = (itemId: string) => command({ kind: 'delete_item', itemId }, 'delete');
const retrieve = (itemId: string) => command({ kind: 'retrieve_item', itemId }, 'retrieve');
const update = (settings: Partial<ConversationSettings>) =>
  command({ kind: 'update_settings', settings: { ...SETTINGS, ...settings } });
const callOutput = (id: string, callId: string): Item => ({
  id,
  object: 'realtime.item',
  type: 'function_call_output',
  status: 'completed',
  call_id: callId,
  output: '{"sun":true}',
});
const SPEAKING = [messageStarted(0), clause(0, ...words(0, 'One ', 'two ', 'three')), audio(0, 300)];

/** The transcript of the assistant's item in the conversation. */
function transcriptOf(script: ConversationScript, itemId = 'item_reply_0'): unknown {
  script.play(retrieve(itemId));
  const item = script.emitted('conversation.item.retrieved').at(-1)?.item;
  return item?.type === 'message' ? item.content : undefined;
}
const spoken = (transcript: string) => [{ type: 'output_audio', transcript }];

/** The messages of the last request, without the instructions. */
function messagesOf(script: ConversationScript): readonly ChatMessage[] {
  const { request } = script;
  return request?.kind === 'generate' ? request.messages.slice(1) : [];
}

describe('a detected turn', () => {
  test('is answered after its transcript', () => {
    const script = new ConversationScript();
    expect(script.play(...spokenTurn('u')).names).toEqual([
      'stop_idle_timer',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'stop_idle_timer',
      'transcribe',
      'conversation.item.input_audio_transcription.completed',
      'stop_idle_timer',
      'response.created',
      'start_reply',
    ]);
    expect(messagesOf(script)).toEqual([{ role: 'user', parts: [{ kind: 'text', text: 'Ask not.' }] }]);
  });

  test('has an item with a null transcript until it is transcribed', () => {
    const script = afterEvents([speechStarted('u'), committed('u')]);
    const content = [{ type: 'input_audio', transcript: null }];
    for (const type of ['conversation.item.added', 'conversation.item.done'] as const) {
      expect(script.emitted(type)).toMatchObject([{ previous_item_id: null, item: { content } }]);
    }
    script.play(transcribed('u'), retrieve('item_u'));
    expect(script.emitted('conversation.item.retrieved')).toMatchObject([
      { item: { content: [{ type: 'input_audio', transcript: 'Ask not.' }] } },
    ]);
  });

  test.each([
    ['has no words', {}, [...spokenTurn('u', ' ')]],
    ['is not to be answered', vad({ createResponse: false }), spokenTurn('u')],
    ['was committed by the client', {}, [committed('u', false), transcribed('u')]],
    ['is dropped', {}, [speechStarted('u'), dropped('u')]],
  ])('that %s has no response', (_, settings, events) => {
    const script = afterEvents(events, settings);
    expect(script.emitted('response.created')).toEqual([]);
    expect(script.state.responses).toEqual([]);
  });

  test('waits for the transcripts of all committed turns', () => {
    const script = afterEvents([speechStarted('t'), committed('t'), speechStarted('u'), committed('u')]);
    expect(script.play(transcribed('u')).names).not.toContain('response.created');
    expect(script.play(transcribed('t', 'First.')).names).toContain('response.created');
    expect(messagesOf(script)).toMatchObject([
      { parts: [{ text: 'First.' }] },
      { parts: [{ text: 'Ask not.' }] },
    ]);
  });

  test('waits until the user stops speaking again', () => {
    const script = afterEvents([speechStarted('t'), committed('t'), speechStarted('u')]);
    expect(script.play(transcribed('t')).names).not.toContain('response.created');
    expect(script.play(dropped('u')).names).toContain('response.created');
  });

  const context = {
    maxPromptTokens: undefined,
    freshResponseId: 'resp_0' as const,
    automaticParams: () => params(),
  };

  test('has a prompt that starts with what was known while the user spoke', () => {
    const script = afterEvents([...spokenTurn('t'), ...spokenReply(0)]);
    script.play(speechStarted('u'));
    const start = promptStart(script.state, context);
    expect(start?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant']);
    script.play(committed('u'), transcribed('u'));
    const words = { role: 'user', parts: [{ kind: 'text', text: 'Ask not.' }] };
    expect(script.request).toMatchObject({ messages: [...(start?.messages ?? []), words] });
    // The response adds a message.
    expect(promptStart(script.state, context)).toBeUndefined();
  });

  test('has a prompt with functions, unless they are off', () => {
    const tools = [{ name: 'look_up', description: undefined, parameters: undefined, strict: false }];
    const settings = { ...SETTINGS, tools };
    const startOf = (toolChoice: 'auto' | 'none') =>
      promptStart(initial('conv_1', { ...settings, toolChoice }), context);
    expect(startOf('auto')?.tools).toEqual(tools);
    expect(startOf('none')?.tools).toEqual([]);
    const tooLong = { ...context, maxPromptTokens: 1 };
    const truncation = { kind: 'disabled' } as const;
    expect(promptStart(initial('conv_1', { ...SETTINGS, truncation }), tooLong)).toBeUndefined();
  });

  test('is prepared with the same request that its response has', () => {
    const script = afterEvents([speechStarted('u')]);
    const request = expectedRequest(script.state, 'item_u', 'Ask not.', context);
    expect(request).toBeDefined();
    script.play(committed('u'), transcribed('u'));
    expect(script.request).toEqual(request);
    expect(expectedRequest(initial('conv_1', SETTINGS), 'item_u', ' ', context)).toBeUndefined();
  });

  test('that is reported late has no effect', () => {
    const script = afterEvents(spokenTurn('u'));
    const late = { kind: 'transcript_delta', itemId: 'item_u', text: 'late' } as const;
    expect(script.play(late, transcribed('u'), notTranscribed('u')).names).toEqual([]);
  });
});

describe('a turn that is not transcribed', () => {
  test('is answered with the failure', () => {
    const script = afterEvents([speechStarted('u'), committed('u'), notTranscribed('u')]);
    expect(script.emitted('conversation.item.input_audio_transcription.failed')).toHaveLength(1);
    expect(script.request).toMatchObject({ kind: 'failure', error: FAILURE });
  });

  test.each([
    ['while the user speaks', [speechStarted('v'), notTranscribed('u')]],
    ['without credits', [notTranscribed('u', true)]],
    ['while the service stops', [DRAIN, notTranscribed('u')]],
  ])('%s has no response', (_, events) => {
    const script = afterEvents([speechStarted('u'), committed('u'), ...events]);
    expect(script.emitted('response.created')).toEqual([]);
  });

  test('is not answered in place of a turn with words', () => {
    const script = afterEvents([speechStarted('t'), committed('t'), speechStarted('u'), committed('u')]);
    script.play(transcribed('t', 'First.'), notTranscribed('u'));
    expect(script.request).toMatchObject({ kind: 'generate' });
    expect(script.emitted('response.created')).toHaveLength(1);
  });
});

describe('speech of the user', () => {
  test('cancels the response of the conversation, which keeps the words that were sent', () => {
    const script = afterEvents([createResponse(), ...SPEAKING]);
    const { names } = script.play(speechStarted('u'));
    expect(names).toEqual([
      'stop_idle_timer',
      'input_audio_buffer.speech_started',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done cancelled',
      'stop_reply',
    ]);
    expect(script.emitted('response.done')).toMatchObject([
      {
        response: {
          status_details: { type: 'cancelled', reason: 'turn_detected' },
          output: [{ status: 'incomplete', content: spoken('One two three') }],
          usage: null,
        },
      },
    ]);
  });

  test('cancels a response that waits for a transcript', () => {
    const script = afterEvents([speechStarted('t'), committed('t'), createResponse()]);
    expect(script.play(speechStarted('u')).names).toContain('response.done cancelled');
  });

  test('cancels no response out of band', () => {
    const script = afterEvents([createResponse({ isOutOfBand: true })]);
    expect(script.play(speechStarted('u')).names).not.toContain('response.done cancelled');
  });

  test('does not cancel with interrupt_response false; the next response waits', () => {
    const script = afterEvents([createResponse(), ...SPEAKING], CONTINUED);
    const { names } = script.play(...spokenTurn('u'));
    expect(names).not.toContain('response.created');
    expect(names).not.toContain('response.done cancelled');
    expect(script.play(ended(0)).names.slice(-3)).toEqual([
      'stop_idle_timer',
      'response.created',
      'start_reply',
    ]);
  });
});

describe('response.create', () => {
  test('during a response is rejected with the id of the client', () => {
    const script = afterEvents([createResponse(), createResponse()]);
    expect(script.emitted('error')).toMatchObject([
      {
        error: {
          code: 'conversation_already_has_active_response',
          message: expect.stringContaining('in progress: resp_0.'),
          event_id: 'respond',
        },
      },
    ]);
    expect(script.emitted('response.created')).toHaveLength(1);
  });

  test('waits for transcripts, and then answers all turns', () => {
    const script = afterEvents([speechStarted('u'), committed('u')]);
    expect(script.play(createResponse()).names).toEqual(['stop_idle_timer', 'response.created']);
    expect(script.play(transcribed('u')).names.slice(-1)).toEqual(['start_reply']);
    const { names } = script.play(...spokenReply(0));
    expect(names).toContain('response.done completed');
    expect(names).not.toContain('response.created');
  });

  test('with its own input does not wait, and leaves the turn unanswered', () => {
    const script = afterEvents([speechStarted('u'), committed('u')]);
    const input = [userItem('own', 'Other words.')];
    expect(script.play(createResponse({}, input)).names.slice(-1)).toEqual(['start_reply']);
    expect(messagesOf(script)).toMatchObject([{ parts: [{ text: 'Other words.' }] }]);
    script.play(transcribed('u'));
    expect(script.play(ended(0)).names.slice(-1)).toEqual(['start_reply']);
  });

  test('with an empty input has no context', () => {
    const script = afterEvents([createItem(userItem('mine')), createResponse({}, [])]);
    expect(messagesOf(script)).toEqual([]);
  });

  test('reads referenced items', () => {
    const script = afterEvents([createItem(userItem('mine')), createResponse({}, [{ reference: 'mine' }])]);
    expect(messagesOf(script)).toMatchObject([{ parts: [{ text: 'Hello.' }] }]);
  });

  test('with an unknown reference has no response', () => {
    const script = afterEvents([createResponse({}, [{ reference: 'gone' }])]);
    expect(script.emitted('error')).toMatchObject([{ error: { code: 'item_reference_invalid_item_id' } }]);
    expect(script.state.responses).toEqual([]);
  });

  test('echoes the metadata in created and done', () => {
    const metadata = { client_event_id: 'a' };
    const script = afterEvents([createResponse({ metadata }), ended(0)]);
    expect(script.emitted('response.created')).toMatchObject([{ response: { metadata } }]);
    expect(script.emitted('response.done')).toMatchObject([{ response: { metadata } }]);
  });

  test('fails with a prompt that is too long, if nothing may be removed', () => {
    const truncation = { kind: 'disabled' } as const;
    const state = afterEvents([createItem(userItem('mine', 'word '.repeat(500)))], { truncation }).state;
    const context = {
      maxPromptTokens: 100,
      freshResponseId: 'resp_0' as const,
      automaticParams: () => params(),
    };
    const { effects } = next(state, createResponse(), context);
    expect(effects.find(({ kind }) => kind === 'start_reply')).toMatchObject({
      request: { kind: 'failure', error: { code: 'context_length_exceeded' } },
    });
  });
});

describe('a response out of band', () => {
  test('runs concurrently with that of the conversation, without events of items', () => {
    const script = afterEvents([createResponse(), createResponse({ isOutOfBand: true })]);
    const { names } = script.play(...spokenReply(1));
    expect(names.filter((name) => name.startsWith('conversation.'))).toEqual([]);
    expect(script.emitted('response.created').map(({ response }) => response.conversation_id)).toEqual([
      'conv_1',
      null,
    ]);
    expect(script.state.items).toEqual([]);
  });

  test(`is limited to ${MAX_OUT_OF_BAND} at the same time`, () => {
    const create = createResponse({ isOutOfBand: true });
    const script = afterEvents(Array.from({ length: MAX_OUT_OF_BAND + 1 }, () => create));
    expect(script.emitted('response.created')).toHaveLength(MAX_OUT_OF_BAND);
    expect(script.emitted('error')).toMatchObject([
      { error: { code: 'too_many_responses', event_id: 'respond' } },
    ]);
    expect(script.play(ended(2), create).names).toContain('response.created');
  });

  test('is cancelled only by its id', () => {
    const script = afterEvents([createResponse({ isOutOfBand: true }), cancel()]);
    expect(script.emitted('error')).toHaveLength(1);
    expect(script.play(cancel('resp_0')).names).toContain('response.done cancelled');
  });
});

describe('response.cancel', () => {
  test('ends the response; late reports have no effect', () => {
    const script = afterEvents([createResponse(), ...SPEAKING, cancel()]);
    expect(script.emitted('response.done')).toMatchObject([
      { response: { status_details: { reason: 'client_cancelled' } } },
    ]);
    const late = [audio(0, 100), clause(0, ...words(300, 'late')), call(0), ended(0), failed(0, true)];
    expect(script.play(...late).names).toEqual([]);
    expect(script.state.fatalError).toBeUndefined();
  });

  test.each([
    ['without a response', []],
    ['after the end', [createResponse(), ended(0)]],
  ])('%s is rejected with the code and text of OpenAI', (_, events) => {
    const script = afterEvents([...events, cancel()]);
    expect(script.emitted('error')).toMatchObject([
      {
        error: {
          code: 'response_cancel_not_active',
          message: 'Cancellation failed: no active response found',
          event_id: 'cancel',
        },
      },
    ]);
  });

  test('of another response is rejected', () => {
    const script = afterEvents([createResponse(), cancel('resp_7')]);
    expect(script.emitted('error')).toHaveLength(1);
    expect(script.state.responses).toHaveLength(1);
  });

  test('lets a waiting turn be answered', () => {
    const script = afterEvents([createResponse(), ...spokenTurn('u')], CONTINUED);
    expect(script.play(cancel()).names.slice(-2)).toEqual(['response.created', 'start_reply']);
  });
});

describe('a function call', () => {
  test('is reported completely, while the message continues', () => {
    const script = afterEvents([createResponse(), ...SPEAKING]);
    expect(script.play(call(0)).names).toEqual([
      'response.output_item.added',
      'conversation.item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'conversation.item.done',
      'response.output_item.done',
    ]);
    expect(script.emitted('response.output_item.added').at(-1)).toMatchObject({
      output_index: 1,
      item: { status: 'in_progress', name: 'weather', call_id: 'call_0', arguments: '' },
    });
    script.play(ended(0));
    expect(script.emitted('response.done')[0]?.response.output.map(({ type }) => type)).toEqual([
      'message',
      'function_call',
    ]);
  });

  test('that is open when the user speaks has a placeholder for its output', () => {
    const script = afterEvents([createResponse(), call(0), ended(0), ...spokenTurn('u')]);
    expect(messagesOf(script)).toMatchObject([
      { role: 'assistant', toolCalls: [{ id: 'call_0', name: 'weather' }] },
      { role: 'tool', toolCallId: 'call_0', text: PENDING_OUTPUT },
      { role: 'user' },
    ]);
  });

  test('accepts its output while the response runs', () => {
    const script = afterEvents([createResponse(), call(0)]);
    script.play(createItem(callOutput('output', 'call_0')), ended(0), createResponse());
    expect(script.emitted('error')).toEqual([]);
    expect(messagesOf(script)).toMatchObject([{}, { role: 'tool', text: '{"sun":true}' }]);
  });

  test('of a cancelled response stays in the conversation', () => {
    const script = afterEvents([createResponse(), call(0), cancel()]);
    expect(script.play(createItem(callOutput('output', 'call_0'))).names).toContain(
      'conversation.item.added',
    );
  });
});

describe('conversation.item.create', () => {
  test('places items', () => {
    const script = afterEvents([
      createItem(userItem('b')),
      createItem(userItem('a'), 'root'),
      createItem(userItem('c'), 'b'),
    ]);
    expect(script.emitted('conversation.item.added').map((event) => event.previous_item_id)).toEqual([
      null,
      null,
      'b',
    ]);
    expect(script.state.items.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  test.each<[string, Event, string]>([
    ['an id in use', createItem(userItem('mine')), 'item_create_duplicate_item_id'],
    ['the id of a turn', createItem(userItem('item_u')), 'item_create_duplicate_item_id'],
    [
      'the id of a deleted message in progress',
      createItem(userItem('item_reply_0')),
      'item_create_duplicate_item_id',
    ],
    ['an output without a call', createItem(callOutput('new', 'gone')), 'invalid_tool_call_id'],
    ['an unknown position', createItem(userItem('new'), 'gone'), 'item_create_invalid_previous_item_id'],
  ])('rejects %s', (_, event, code) => {
    const response = [createResponse(), messageStarted(0), deleted('item_reply_0')];
    const script = afterEvents(
      [createItem(userItem('mine')), ...response, speechStarted('u'), event],
      CONTINUED,
    );
    expect(script.emitted('error')).toMatchObject([{ error: { code, event_id: 'create' } }]);
    expect(script.state.items).toHaveLength(1);
  });
});

describe('conversation.item.delete', () => {
  test('removes an item from later prompts', () => {
    const script = afterEvents([createItem(userItem('mine')), deleted('mine'), createResponse()]);
    expect(script.emitted('conversation.item.deleted')).toEqual([
      { type: 'conversation.item.deleted', item_id: 'mine' },
    ]);
    expect(messagesOf(script)).toEqual([]);
  });

  test('of an item in progress leaves out its conversation.item.done', () => {
    const script = afterEvents([createResponse(), ...SPEAKING, deleted('item_reply_0')]);
    const { names } = script.play(ended(0));
    expect(names).not.toContain('conversation.item.done');
    expect(names).toContain('response.output_item.done');
    expect(script.state.items).toEqual([]);
  });

  test('of a turn keeps its transcription', () => {
    const script = afterEvents([speechStarted('u'), committed('u'), deleted('item_u')]);
    expect(script.play(transcribed('u')).names).toContain(
      'conversation.item.input_audio_transcription.completed',
    );
    expect(script.state.items).toEqual([]);
  });

  test.each([
    ['deleting', deleted('gone'), 'item_delete_invalid_item_id'],
    ['retrieving', retrieve('gone'), 'item_retrieve_invalid_item_id'],
    ['truncating', truncate('gone', 0), 'item_truncate_invalid_item_id'],
  ])('%s an unknown item is rejected', (action, event, code) => {
    const script = afterEvents([event]);
    const message = `Error ${action} item: the item with id 'gone' does not exist.`;
    expect(script.emitted('error')).toMatchObject([{ error: { code, message, param: 'item_id' } }]);
  });

  test('an unknown id is shortened in the message', () => {
    const [error] = afterEvents([deleted('x'.repeat(500))]).emitted('error');
    expect(error?.error.message.length).toBeLessThan(150);
  });
});

describe('an interruption', () => {
  test.each([
    [0, 'One two three'],
    [100, 'One two'],
    [200, 'One'],
    [900, ''],
  ])('removes the words of %i ms that were not played', (unplayedMs, transcript) => {
    const running = afterEvents([createResponse(), ...SPEAKING, speechStarted('u', unplayedMs)]);
    expect(running.emitted('response.done')).toMatchObject([
      { response: { status: 'cancelled', output: [{ content: spoken(transcript) }] } },
    ]);
    expect(transcriptOf(running)).toEqual(spoken(transcript));
    const completed = afterEvents([createResponse(), ...SPEAKING, ended(0), speechStarted('u', unplayedMs)]);
    expect(transcriptOf(completed)).toEqual(spoken(transcript));
  });

  test('removes the words of several messages', () => {
    const second = [messageStarted(1), clause(1, ...words(0, 'Four')), audio(1, 100)];
    const events = [createResponse(), ...SPEAKING, ended(0), createResponse(), ...second];
    const script = afterEvents([...events, speechStarted('u', 200)]);
    expect(transcriptOf(script, 'item_reply_1')).toEqual(spoken(''));
    expect(transcriptOf(script, 'item_reply_0')).toEqual(spoken('One two'));
  });

  test('keeps all words if speech does not interrupt', () => {
    const events = [createResponse(), ...SPEAKING, ended(0), speechStarted('u', 200)];
    const script = afterEvents(events, vad({ interruptResponse: false }));
    expect(transcriptOf(script)).toEqual(spoken('One two three'));
  });

  test('never restores words that the client removed', () => {
    const events = [createResponse(), ...SPEAKING, ended(0), truncate('item_reply_0', 120)];
    expect(transcriptOf(afterEvents([...events, speechStarted('u', 50)]))).toEqual(spoken('One'));
  });
});

describe('conversation.item.truncate', () => {
  const SPOKEN = [createResponse(), ...SPEAKING, ended(0)];

  test.each([
    [0, ''],
    [120, 'One'],
    [300, 'One two three'],
  ])('at %i ms keeps the words that were played', (atMs, transcript) => {
    const script = afterEvents([...SPOKEN, truncate('item_reply_0', atMs)]);
    expect(script.emitted('conversation.item.truncated')).toEqual([
      {
        type: 'conversation.item.truncated',
        item_id: 'item_reply_0',
        content_index: 0,
        audio_end_ms: atMs,
      },
    ]);
    expect(transcriptOf(script)).toEqual(spoken(transcript));
  });

  test('works before the item is done', () => {
    const script = afterEvents([createResponse(), ...SPEAKING, truncate('item_reply_0', 120), ended(0)]);
    expect(script.emitted('conversation.item.done')).toMatchObject([{ item: { content: spoken('One') } }]);
    expect(transcriptOf(script)).toEqual(spoken('One'));
  });

  test('a second time never restores words', () => {
    const truncations = [truncate('item_reply_0', 120), truncate('item_reply_0', 300)];
    expect(transcriptOf(afterEvents([...SPOKEN, ...truncations]))).toEqual(spoken('One'));
    const running = [createResponse(), ...SPEAKING, ...truncations, ended(0)];
    expect(transcriptOf(afterEvents(running))).toEqual(spoken('One'));
    const around = [createResponse(), ...SPEAKING, truncate('item_reply_0', 120), ended(0)];
    expect(transcriptOf(afterEvents([...around, truncate('item_reply_0', 300)]))).toEqual(spoken('One'));
  });

  test('uses the corrected times of words', () => {
    const slower = [
      { text: 'One ', startMs: 0, endMs: 200 },
      { text: 'two ', startMs: 200, endMs: 250 },
      { text: 'three', startMs: 250, endMs: 300 },
    ];
    const events = [createResponse(), ...SPEAKING, retimed(0, ...slower), ended(0)];
    expect(transcriptOf(afterEvents([...events, truncate('item_reply_0', 150)]))).toEqual(spoken('One'));
  });

  test('accepts the length of the audio, rounded up', () => {
    const script = afterEvents([createResponse(), messageStarted(0), audio(0, 12.4), ended(0)]);
    expect(script.play(truncate('item_reply_0', 13)).names).toEqual([
      'stop_playback',
      'conversation.item.truncated',
    ]);
  });

  test('uses the time of the client instead of an estimate', () => {
    const interrupted = [createResponse(), ...SPEAKING, speechStarted('u', 200)];
    expect(transcriptOf(afterEvents([...interrupted, truncate('item_reply_0', 300)]))).toEqual(
      spoken('One two three'),
    );
  });

  test('beyond the audio is rejected with the text of OpenAI', () => {
    const script = afterEvents([...SPOKEN, truncate('item_reply_0', 301)]);
    expect(script.emitted('error')).toMatchObject([
      {
        error: {
          code: 'invalid_value',
          message: 'Audio content of 300ms is already shorter than 301ms',
          param: 'audio_end_ms',
          event_id: 'truncate',
        },
      },
    ]);
    expect(transcriptOf(script)).toEqual(spoken('One two three'));
  });

  test('of an item of the user is rejected', () => {
    const script = afterEvents([createItem(userItem('mine')), truncate('mine', 0)]);
    expect(script.emitted('error')).toMatchObject([{ error: { code: 'item_truncate_invalid_item_id' } }]);
  });

  test('of a message that the client created has no effect', () => {
    const item: Item = {
      id: 'theirs',
      object: 'realtime.item',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello there.' }],
    };
    const script = afterEvents([createItem(item), truncate('theirs', 50)]);
    expect(script.emitted('conversation.item.truncated')).toHaveLength(1);
    expect(transcriptOf(script, 'theirs')).toEqual(item.type === 'message' ? item.content : []);
  });
});

describe('the idle timeout', () => {
  const IDLE_REPLY = [createResponse(), ...spokenReply(0)];

  test('starts after a completed response, and is answered like a turn', () => {
    const script = new ConversationScript(IDLE);
    expect(script.play(...IDLE_REPLY).effects.at(-1)).toEqual({ kind: 'start_idle_timer', timeoutMs: 6000 });
    expect(script.play(idle('i')).names).toEqual([
      'input_audio_buffer.timeout_triggered',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'stop_idle_timer',
      'response.created',
      'start_reply',
    ]);
  });

  test('fires twice until the user speaks', () => {
    const script = afterEvents(
      [...IDLE_REPLY, idle('a'), ...spokenReply(1), idle('b'), ...spokenReply(2)],
      IDLE,
    );
    expect(script.effects.filter(({ kind }) => kind === 'start_idle_timer')).toHaveLength(2);
    script.play(...spokenTurn('u'), ...spokenReply(3));
    expect(script.effects.filter(({ kind }) => kind === 'start_idle_timer')).toHaveLength(3);
  });

  test.each<[string, readonly Event[], Partial<ConversationSettings>?]>([
    ['without idle_timeout_ms', IDLE_REPLY, {}],
    ['after a cancelled response', [createResponse(), cancel()]],
    ['after a failed response', [createResponse(), failed(0)]],
    ['after a response out of band', [createResponse({ isOutOfBand: true }), ended(0)]],
    [
      'while the user speaks',
      [createResponse(), speechStarted('u'), ended(0)],
      vad({ idleTimeoutMs: 6000, interruptResponse: false }),
    ],
    ['while the service stops', [createResponse({ isOutOfBand: true }), createResponse(), DRAIN, ended(1)]],
  ])('does not start %s', (_, events, settings = IDLE) => {
    const script = afterEvents(events, settings);
    expect(script.effects.filter(({ kind }) => kind === 'start_idle_timer')).toEqual([]);
  });

  test.each<[string, readonly Event[]]>([
    ['while the user speaks', [speechStarted('u')]],
    ['while a turn is transcribed', [committed('u', false)]],
    ['during a response', [createResponse()]],
    ['after it was turned off', [update(vad({ idleTimeoutMs: undefined }))]],
    ['while the service stops', [createResponse({ isOutOfBand: true }), DRAIN]],
  ])('that elapses %s has no effect', (_, events) => {
    expect(afterEvents(events, IDLE).play(idle('i')).names).toEqual([]);
  });
});

describe('settings', () => {
  test('that change the input reconfigure it', () => {
    const script = new ConversationScript();
    expect(script.play(update({ instructions: 'Be kind.' })).names).toEqual([]);
    expect(script.play(update({ turnDetection: undefined })).names).toEqual(['configure_input']);
    const mulaw = { encoding: 'mulaw', rateHz: 8000 } as const;
    expect(script.play(update({ turnDetection: undefined, inputFormat: mulaw })).names).toEqual([
      'configure_input',
    ]);
  });

  test('apply to the next response, not to the one in progress', () => {
    const script = afterEvents([createResponse(), update({ modality: 'text' }), ...SPEAKING, ended(0)]);
    expect(script.emitted('response.done')).toMatchObject([{ response: { output_modalities: ['audio'] } }]);
    expect(script.play(...spokenTurn('u')).effects.at(-1)).toMatchObject({
      request: { settings: { modality: 'text' } },
    });
  });
});

describe('commits', () => {
  const commit = command({ kind: 'commit' }, 'commit');

  test(`are limited to ${MAX_PENDING_TURNS} pending turns`, () => {
    const turns = Array.from({ length: MAX_PENDING_TURNS }, (_, at) => committed(`t${at}`, false));
    const script = afterEvents(turns);
    script.play(commit);
    expect(script.emitted('error')).toMatchObject([
      { error: { code: 'input_audio_buffer_overflow', event_id: 'commit' } },
    ]);
    expect(script.play(transcribed('t5'), commit).names.at(-1)).toBe('commit_input');
  });

  test('a clear is answered', () => {
    expect(new ConversationScript().play(command({ kind: 'clear' })).names).toEqual([
      'clear_input',
      'input_audio_buffer.cleared',
    ]);
  });

  test('a rejected event has one error with its id', () => {
    const error = {
      type: 'invalid_request_error',
      code: 'invalid_json',
      message: 'No.',
      param: null,
    } as const;
    const script = afterEvents([rejected(error)]);
    expect(script.emitted('error')).toEqual([{ type: 'error', error: { ...error, event_id: 'bad' } }]);
  });

  test('a failure of the detector is an error without an id', () => {
    const script = afterEvents([{ kind: 'detector_failed', error: FAILURE }]);
    expect(script.emitted('error')).toMatchObject([{ error: { code: 'upstream_error', event_id: null } }]);
  });
});

describe('a fatal error', () => {
  test('ends the session after its response', () => {
    const script = afterEvents([createResponse(), ...SPEAKING]);
    expect(script.play(failed(0, true)).names.slice(-4)).toEqual([
      'response.done failed',
      'error upstream_error',
      'stop_input',
      'close',
    ]);
    expect(script.effects.at(-1)).toEqual({ kind: 'close', reason: 'insufficient_quota' });
  });

  test('waits for other responses, and starts no automatic one', () => {
    const script = afterEvents([createResponse({ isOutOfBand: true }), createResponse()], CONTINUED);
    script.play(...spokenTurn('u'));
    const { names } = script.play(failed(1, true));
    expect(names.at(-1)).toBe('response.done failed');
    expect(script.play(ended(0)).names.at(-1)).toBe('close');
  });

  test('of a transcription ends the session', () => {
    const script = afterEvents([committed('u', false), notTranscribed('u', true)]);
    expect(script.effects.at(-1)).toEqual({ kind: 'close', reason: 'insufficient_quota' });
  });
});

describe('a stopping service', () => {
  test('closes an idle session', () => {
    expect(new ConversationScript().play(DRAIN).effects).toEqual([
      { kind: 'stop_input' },
      { kind: 'close', reason: 'shutting_down' },
    ]);
  });

  test('finishes turns and responses, and accepts no new ones', () => {
    const script = afterEvents([speechStarted('u'), committed('u'), createResponse(), DRAIN]);
    script.play(
      createResponse(),
      createResponse({ isOutOfBand: true }),
      command({ kind: 'commit' }, 'commit'),
    );
    expect(script.emitted('error').map(({ error }) => error.code)).toEqual([
      'server_shutting_down',
      'server_shutting_down',
      'server_shutting_down',
    ]);
    expect(script.play(createItem(userItem('mine'))).names).toContain('conversation.item.added');
    expect(script.play(transcribed('u')).names.at(-1)).toBe('start_reply');
    expect(script.play(...spokenReply(0)).names.slice(-2)).toEqual(['response.done completed', 'close']);
  });

  test('does not answer a turn', () => {
    const script = afterEvents([speechStarted('u'), committed('u'), DRAIN]);
    expect(script.play(transcribed('u')).names.slice(-1)).toEqual(['close']);
    expect(script.emitted('response.created')).toEqual([]);
  });

  test('closes once', () => {
    const script = afterEvents([DRAIN]);
    expect(script.play(DRAIN, { kind: 'expired' }, { kind: 'error_occurred' }).names).toEqual([]);
  });
});

describe('the end of a session', () => {
  test('after its maximum duration has an error', () => {
    const script = afterEvents([createResponse()]);
    expect(script.play({ kind: 'expired' }).names).toEqual(['error session_expired', 'stop_input', 'close']);
    expect(script.effects.at(-1)).toEqual({ kind: 'close', reason: 'expired' });
  });

  test('stops the input once', () => {
    const script = afterEvents([createResponse(), DRAIN, { kind: 'expired' }]);
    expect(script.effects.filter(({ kind }) => kind === 'stop_input')).toHaveLength(1);
  });

  test('is followed by nothing', () => {
    const everything = [
      ...[createItem(userItem('mine')), createResponse(), cancel(), deleted('x'), retrieve('x')],
      ...[truncate('x', 0), speechStarted('u'), speechStopped('u'), committed('u'), transcribed('u')],
      ...[...SPEAKING, text(0, 'late'), call(0), ended(0), failed(0, true), idle('i')],
    ];
    const closing = afterEvents([createResponse(), { kind: 'error_occurred' }]);
    expect(closing.play(...everything).names).toEqual([]);
    expect(closing.play({ kind: 'transport_closed' }).names).toEqual(['release']);
    expect(closing.play(...everything, { kind: 'transport_closed' }).names).toEqual([]);
  });
});
