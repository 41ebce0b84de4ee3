import { describe, expect, test } from 'vitest';
import {
  afterEvents,
  audio,
  call,
  cancel,
  clause,
  createResponse,
  ended,
  failed,
  messageStarted,
  params,
  SETTINGS,
  spokenReply,
  text,
  words,
} from '../../../test/harness/conversation-machine.ts';

const TEXT = { settings: { ...SETTINGS, modality: 'text' } } as const;

describe('a spoken response', () => {
  test('has all events in order', () => {
    expect(afterEvents([createResponse()]).play(...spokenReply(0)).names).toEqual([
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio_transcript.delta',
      'emit_audio',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done completed',
    ]);
  });

  test('starts with an empty item, whose parts have the names of parts', () => {
    const script = afterEvents([createResponse(), ...spokenReply(0)]);
    expect(script.emitted('response.output_item.added')[0]?.item).toEqual({
      id: 'item_reply_0',
      object: 'realtime.item',
      type: 'message',
      status: 'in_progress',
      role: 'assistant',
      content: [],
    });
    expect(script.emitted('response.content_part.added')[0]?.part).toEqual({ type: 'audio', transcript: '' });
    expect(script.emitted('response.content_part.done')[0]?.part).toEqual({
      type: 'audio',
      transcript: 'One two',
    });
    expect(script.emitted('response.output_item.done')[0]?.item).toMatchObject({
      status: 'completed',
      content: [{ type: 'output_audio', transcript: 'One two' }],
    });
  });

  test('has the times of its deltas in seconds', () => {
    const script = afterEvents([
      ...[createResponse(), messageStarted(0), clause(0, ...words(0, 'One ')), audio(0, 100)],
      clause(0, ...words(100, 'two')),
    ]);
    expect(
      script
        .emitted('response.output_audio_transcript.delta')
        .map(({ delta, start_time }) => [delta, start_time]),
    ).toEqual([
      ['One ', 0],
      ['two', 0.1],
    ]);
  });

  test('has the same ids and indices in all events', () => {
    const script = afterEvents([createResponse(), ...spokenReply(0)]);
    for (const effect of script.effects) {
      if (effect.kind !== 'emit' || !('response_id' in effect.event)) continue;
      expect(effect.event).toMatchObject({ response_id: 'resp_0', output_index: 0 });
    }
    expect(script.effects.find(({ kind }) => kind === 'emit_audio')).toMatchObject({
      responseId: 'resp_0',
      itemId: 'item_reply_0',
      outputIndex: 0,
    });
  });

  test('follows the last item of the conversation', () => {
    const script = afterEvents([
      ...[createResponse(), ...spokenReply(0), createResponse(), ...spokenReply(1)],
    ]);
    const placed = [null, 'item_reply_0'];
    expect(script.emitted('conversation.item.added').map((event) => event.previous_item_id)).toEqual(placed);
    expect(script.emitted('conversation.item.done').map((event) => event.previous_item_id)).toEqual(placed);
  });

  test('without a message has no item', () => {
    const script = afterEvents([createResponse()]);
    expect(script.play(ended(0)).names).toEqual(['response.done completed']);
    expect(script.emitted('response.done')[0]?.response.output).toEqual([]);
  });

  test('ignores empty deltas and empty audio', () => {
    const script = afterEvents([createResponse(), messageStarted(0)]);
    const empty = { kind: 'audio', audio: new Uint8Array(), lengthMs: 0 } as const;
    const events = [clause(0), text(0, ''), { kind: 'reply', responseId: 'resp_0', event: empty } as const];
    expect(script.play(...events).names).toEqual([]);
  });
});

describe('a text response', () => {
  test('has all events in order', () => {
    const script = afterEvents([createResponse(TEXT)]);
    const events = [messageStarted(0), text(0, 'One '), text(0, 'two'), ended(0)];
    expect(script.play(...events).names).toEqual([
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done completed',
    ]);
    expect(script.emitted('response.content_part.added')[0]?.part).toEqual({ type: 'text', text: '' });
    expect(script.emitted('response.output_text.done')[0]?.text).toBe('One two');
    expect(script.emitted('conversation.item.done')[0]?.item).toMatchObject({
      content: [{ type: 'output_text', text: 'One two' }],
    });
  });

  test('that is cancelled keeps its text', () => {
    const script = afterEvents([createResponse(TEXT), messageStarted(0), text(0, 'One '), cancel()]);
    expect(script.emitted('response.done')[0]?.response.output).toMatchObject([
      { status: 'incomplete', content: [{ type: 'output_text', text: 'One ' }] },
    ]);
  });
});

describe('the end of a response', () => {
  test('completed: usage that adds up', () => {
    const script = afterEvents([createResponse(), ...spokenReply(0)]);
    expect(script.emitted('response.done')[0]?.response).toMatchObject({
      status: 'completed',
      status_details: null,
      usage: {
        total_tokens: 20,
        input_tokens: 12,
        output_tokens: 8,
        input_token_details: { text_tokens: 12, cached_tokens: 4 },
        output_token_details: { text_tokens: 5, audio_tokens: 3 },
      },
    });
  });

  test.each(['max_output_tokens', 'content_filter'] as const)(
    'incomplete because of %s: with usage',
    (reason) => {
      const script = afterEvents([
        ...[createResponse(), messageStarted(0), clause(0, ...words(0, 'One ')), audio(0, 100)],
        ended(0, reason),
      ]);
      expect(script.emitted('response.done')[0]?.response).toMatchObject({
        status: 'incomplete',
        status_details: { type: 'incomplete', reason },
        output: [{ status: 'incomplete', content: [{ transcript: 'One' }] }],
        usage: { total_tokens: 20 },
      });
    },
  );

  test('failed: the error, without usage', () => {
    const script = afterEvents([createResponse(), messageStarted(0), failed(0)]);
    expect(script.emitted('response.done')[0]?.response).toMatchObject({
      status: 'failed',
      status_details: { type: 'failed', error: { code: 'upstream_error' } },
      output: [{ status: 'incomplete' }],
      usage: null,
    });
  });

  test('cancelled: only the words whose audio was sent', () => {
    const script = afterEvents([
      ...[createResponse(), messageStarted(0), clause(0, ...words(0, 'One ', 'two ', 'three'))],
      ...[audio(0, 120), cancel()],
    ]);
    expect(script.emitted('response.output_audio_transcript.done')[0]?.transcript).toBe('One');
  });

  test('lists the items in the order of their indices', () => {
    const script = afterEvents([
      ...[createResponse(), messageStarted(0), call(0, 'call_a'), call(0, 'call_b'), ended(0)],
    ]);
    const [done] = script.emitted('response.done');
    expect(done?.response.output.map(({ id }) => id)).toEqual(['item_reply_0', 'item_call_a', 'item_call_b']);
    expect(script.emitted('response.output_item.added').map(({ output_index }) => output_index)).toEqual([
      0, 1, 2,
    ]);
  });
});

test('a response reports its settings', () => {
  const settings = {
    ...SETTINGS,
    maxOutputTokens: 100,
    outputFormat: { encoding: 'mulaw', rateHz: 8000 },
  } as const;
  const script = afterEvents([createResponse({ ...params(settings), voiceName: 'marin' })]);
  expect(script.emitted('response.created')[0]?.response).toMatchObject({
    object: 'realtime.response',
    id: 'resp_0',
    status: 'in_progress',
    output: [],
    usage: null,
    conversation_id: 'conv_1',
    output_modalities: ['audio'],
    max_output_tokens: 100,
    metadata: null,
    audio: { output: { format: { type: 'audio/pcmu', rate: 8000 }, voice: 'marin' } },
  });
});
