import { describe, expect, it } from 'vitest';
import { type Conversation, EMPTY_CONVERSATION, MAX_TURNS, reduceConversation } from './conversation.ts';

type Event = Parameters<typeof reduceConversation>[1];

/** Folds events with their times; service events have only the fields that the fold reads. */
function conversationAfter(...events: readonly (readonly [nowMs: number, event: object])[]): Conversation {
  return events.reduce(
    (state, [nowMs, event]) => reduceConversation(state, event as Event, nowMs),
    EMPTY_CONVERSATION,
  );
}

const started = { type: 'input_audio_buffer.speech_started', item_id: 'item_1', audio_start_ms: 700 };
const stopped = { type: 'input_audio_buffer.speech_stopped', item_id: 'item_1', audio_end_ms: 2100 };
const committed = { type: 'input_audio_buffer.committed', item_id: 'item_1', previous_item_id: null };
const delta = (text: string) => ({
  type: 'conversation.item.input_audio_transcription.delta',
  item_id: 'item_1',
  delta: text,
});
const completed = {
  type: 'conversation.item.input_audio_transcription.completed',
  item_id: 'item_1',
  transcript: 'Good morning.',
};

describe('a user turn', () => {
  it('starts with its first audio and grows with each transcript delta', () => {
    const speaking = conversationAfter([10, started]);
    expect(speaking.isSpeechDetected).toBe(true);
    expect(speaking.turns).toEqual([
      { id: 'item_1', side: 'user', text: '', state: 'speaking', startMs: 700 },
    ]);
    const writing = conversationAfter([10, started], [20, stopped], [21, committed], [25, delta('Good')]);
    expect(writing.isSpeechDetected).toBe(false);
    expect(writing.turns).toMatchObject([{ text: 'Good', state: 'writing', endMs: 2100 }]);
    const done = conversationAfter(
      [10, started],
      [20, stopped],
      [21, committed],
      [25, delta('Good')],
      [70, completed],
    );
    expect(done.turns).toMatchObject([{ text: 'Good morning.', state: 'done', waitMs: 50 }]);
  });

  it('has the error of a failed transcription', () => {
    const { turns } = conversationAfter(
      [10, started],
      [
        20,
        {
          type: 'conversation.item.input_audio_transcription.failed',
          item_id: 'item_1',
          error: { message: 'No.' },
        },
      ],
    );
    expect(turns).toMatchObject([{ text: 'No.', state: 'failed' }]);
  });

  it('has the times of the held button', () => {
    const turn = { startMs: 0, endMs: 1200, releasedMs: 5 };
    const { turns, committed: open } = conversationAfter(
      [9, { type: 'page.committed', turn }],
      [10, { type: 'page.committed', turn: { ...turn, startMs: 1200 } }],
      [12, committed],
      [30, completed],
    );
    expect(turns).toMatchObject([{ startMs: 0, endMs: 1200, waitMs: 25, state: 'done' }]);
    expect(open).toHaveLength(1);
  });

  it('is no longer active once it is committed', () => {
    expect(conversationAfter([10, started], [20, committed]).isSpeechDetected).toBe(false);
  });

  it('ends with the connection', () => {
    const { turns, isSpeechDetected } = conversationAfter(
      [10, started],
      [20, delta('Good')],
      [30, { type: 'page.ended' }],
    );
    expect(turns).toMatchObject([{ text: 'Good', state: 'cancelled' }]);
    expect(isSpeechDetected).toBe(false);
    expect(
      conversationAfter([10, started], [20, completed], [30, { type: 'page.ended' }]).turns,
    ).toMatchObject([{ state: 'done' }]);
  });

  it('is dropped when the conversation exceeds its maximum length', () => {
    const many = Array.from(
      { length: MAX_TURNS + 3 },
      (_, at) => [at, { ...started, item_id: `i${at}` }] as const,
    );
    const { turns } = conversationAfter(...many);
    expect(turns).toHaveLength(MAX_TURNS);
    expect(turns[0]?.id).toBe('i3');
  });
});

describe('a spoken turn', () => {
  const requested = { type: 'page.requested', eventId: 'page_3', textEventId: 'page_2', text: 'Hello.' };
  const added = { type: 'response.output_item.added', item: { id: 'item_2' } };
  /** 100 ms. */
  const audio = {
    type: 'response.audio.delta',
    item_id: 'item_2',
    delta: Buffer.alloc(4800).toString('base64'),
  };
  const done = (status: string, status_details: object | null = null) => ({
    type: 'response.done',
    response: { status, status_details },
  });

  it('has the requested text, its duration and the time to first audio', () => {
    const { turns, response } = conversationAfter(
      [100, requested],
      [110, added],
      [140, audio],
      [150, audio],
      [160, done('completed')],
    );
    expect(turns).toEqual([
      { id: 'item_2', side: 'service', text: 'Hello.', state: 'done', lengthMs: 200, waitMs: 40 },
    ]);
    expect(response).toBeUndefined();
  });

  const cancel = { type: 'page.cancelled', eventId: 'page_4' };
  const error = (event_id: string | null, message = 'No text.') => ({
    type: 'error',
    error: { message, event_id },
  });

  it('ends where it was cancelled', () => {
    const cancelled = conversationAfter([100, requested], [110, added], [120, cancel]);
    expect(cancelled.response?.isCancelled).toBe(true);
    const { turns } = conversationAfter(
      [100, requested],
      [110, added],
      [130, done('cancelled', { type: 'cancelled' })],
    );
    expect(turns).toMatchObject([{ state: 'cancelled' }]);
    expect(conversationAfter([1, cancel])).toBe(EMPTY_CONVERSATION);
  });

  it('may complete while it is being cancelled, without an error', () => {
    const after = conversationAfter(
      [100, requested],
      [110, added],
      [120, cancel],
      [125, done('completed')],
      [130, error('page_4')],
    );
    expect(after).toMatchObject({
      turns: [{ state: 'done' }],
      sessionError: undefined,
      speechError: undefined,
    });
  });

  it('has its error until the next turn', () => {
    const failed = done('failed', { type: 'failed', error: { message: 'The model is unavailable.' } });
    expect(conversationAfter([100, requested], [110, added], [120, failed])).toMatchObject({
      turns: [{ state: 'failed' }],
      speechError: 'The model is unavailable.',
    });
    expect(conversationAfter([100, requested], [120, failed], [130, requested]).speechError).toBeUndefined();
  });

  it('distinguishes its own rejection from session errors', () => {
    expect(conversationAfter([1, requested], [2, error('page_3')])).toMatchObject({
      response: undefined,
      speechError: 'No text.',
      sessionError: undefined,
    });
    const other = conversationAfter([1, requested], [2, error('page_1')]);
    expect(other).toMatchObject({ response: { requestedBy: 'page_3' }, sessionError: 'No text.' });
    expect(reduceConversation(other, { type: 'page.configured' }, 3).sessionError).toBeUndefined();
  });

  it('attributes an error of its text to the text, regardless of later response events', () => {
    const rejected = conversationAfter([1, requested], [2, error('page_2', 'Too long.')]);
    expect(rejected).toMatchObject({ speechError: 'Too long.', sessionError: undefined });
    expect(reduceConversation(rejected, error('page_3') as Event, 3)).toMatchObject({
      response: undefined,
      speechError: 'Too long.',
    });
  });
});
