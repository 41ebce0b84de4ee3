import { describe, expect, test } from 'vitest';
import type { FinishedTurn } from '../../../audio/input/push-to-talk.ts';
import { type Context, type Effect, next, type PageEvent } from './session-reducer.ts';
import { activityOf, INITIAL_STATE, isAnswering, type SessionState } from './session-state.ts';
import { type AssistantEntry, type Entry, shownText } from './transcript.ts';
import { stageTimes } from './turn-timing.ts';
import type { ServerEvent } from './wire.ts';

const TURN_DETECTION = { type: 'semantic_vad' };
/** Base64 of 100 ms of audio. */
const AUDIO = Buffer.alloc(4800).toString('base64');

interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A session that collects its effects. */
class Session {
  state: SessionState = INITIAL_STATE;
  effects: Effect[] = [];
  nowMs = 0;
  inputStartMs: number | undefined = 1000;
  playback: Context['playback'] = [];

  apply(...events: readonly (PageEvent | WireEvent)[]): this {
    for (const event of events) {
      const step = next(this.state, event as PageEvent | ServerEvent, {
        nowMs: this.nowMs,
        inputStartMs: this.inputStartMs,
        playback: this.playback,
        runsTool: (name) => name === 'roll_dice',
      });
      this.state = step.state;
      this.effects.push(...step.effects);
    }
    return this;
  }

  at(nowMs: number): this {
    this.nowMs = nowMs;
    return this;
  }

  /** Kinds of the effects since the last call; frames by their type. */
  taken(): string[] {
    const taken = this.effects.map((effect) => (effect.kind === 'send' ? effect.frame.type : effect.kind));
    this.effects = [];
    return taken;
  }

  entry<Kind extends Entry['kind']>(kind: Kind): Extract<Entry, { kind: Kind }> {
    const entry = this.state.entries.findLast((each) => each.kind === kind);
    if (entry === undefined) throw new Error(`no entry '${kind}'`);
    return entry as Extract<Entry, { kind: Kind }>;
  }

  frame(type: string): unknown {
    const effect = this.effects.findLast((each) => each.kind === 'send' && each.frame.type === type);
    return effect?.kind === 'send' ? effect.frame : undefined;
  }
}

const CREATED = {
  type: 'session.created',
  session: { instructions: 'Be brief.', audio: { input: { turn_detection: TURN_DETECTION } } },
};
function ready(): Session {
  const session = new Session().apply(CREATED, { ...CREATED, type: 'session.updated' });
  session.taken();
  return session;
}

const speechStarted = { type: 'input_audio_buffer.speech_started', item_id: 'u1', audio_start_ms: 500 };
const speechStopped = { type: 'input_audio_buffer.speech_stopped', item_id: 'u1', audio_end_ms: 2000 };
const committed = (id = 'u1') => ({ type: 'input_audio_buffer.committed', item_id: id });
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const delta = (text: string) => ({ type: `${TRANSCRIPTION}.delta`, item_id: 'u1', delta: text });
const transcribed = (transcript: string, id = 'u1') => ({
  type: `${TRANSCRIPTION}.completed`,
  item_id: id,
  transcript,
});
const spokenTurn = [speechStarted, speechStopped, committed(), transcribed('Hello?')];

const created = (id = 'r1') => ({ type: 'response.created', response: { id } });
const messageAdded = (id = 'a1', response_id = 'r1') => ({
  type: 'response.output_item.added',
  response_id,
  item: { type: 'message', id },
});
const words = (text: string, start_time?: number, item_id = 'a1') => ({
  type: 'response.output_audio_transcript.delta',
  item_id,
  delta: text,
  ...(start_time !== undefined && { start_time }),
});
const audio = (item_id = 'a1') => ({ type: 'response.output_audio.delta', item_id, delta: AUDIO });
const messageDone = (id = 'a1') => ({
  type: 'response.output_item.done',
  response_id: 'r1',
  item: { type: 'message', id },
});
const call = (name: string, call_id = 'call_1') => ({
  type: 'response.output_item.done',
  response_id: 'r1',
  item: { type: 'function_call', id: `item_${call_id}`, call_id, name, arguments: '{}' },
});
const done = (more: object = {}) => ({
  type: 'response.done',
  response: { id: 'r1', status: 'completed', ...more },
});
const reply = [created(), messageAdded(), words('One two.', 0), audio()];

describe('a session', () => {
  test('is configured when it is created, and starts the input when its settings are accepted', () => {
    const session = new Session();
    expect(activityOf(session.state)).toBe('connecting');
    expect(session.apply(CREATED).taken()).toEqual(['configure']);
    expect(session.state.defaults).toEqual({ instructions: 'Be brief.', turnDetection: TURN_DETECTION });
    expect(session.apply({ type: 'session.updated' }).taken()).toEqual(['start_input']);
    expect(activityOf(session.state)).toBe('waiting');
    // A later change of the settings.
    expect(session.apply({ type: 'session.updated' }).taken()).toEqual([]);
  });

  test('shows the progress of a load until it is created', () => {
    const session = new Session().apply({ type: 'page.loading', message: '41 %' });
    expect([activityOf(session.state), session.state.message]).toEqual(['loading', '41 %']);
    session.apply(CREATED);
    expect([activityOf(session.state), session.state.message]).toEqual(['connecting', undefined]);
  });

  test('ignores everything after its end', () => {
    const session = ready().apply({ type: 'page.closed', message: 'Connection lost.' });
    expect(session.taken()).toEqual(['stop_playback']);
    expect([activityOf(session.state), session.state.message]).toEqual(['ended', 'Connection lost.']);
    expect(session.apply(...spokenTurn, { type: 'page.typed', text: 'Hi' }).taken()).toEqual([]);
    expect(session.state.entries).toEqual([]);
  });

  test('that ends keeps the words of open entries', () => {
    const session = ready().apply(...spokenTurn, ...reply);
    session.playback = [{ itemId: 'a1', playedMs: 60, lengthMs: 100 }];
    session.apply({ ...speechStarted, item_id: 'u2' }).apply({ type: 'page.closed', message: undefined });
    expect(session.state.entries).toMatchObject([
      { id: 'u1', text: 'Hello?', state: 'done' },
      { id: 'a1', interruptedMs: 60 },
    ]);
  });
});

describe('a spoken turn', () => {
  test('has the activities of its stages', () => {
    const session = ready();
    const activities = [...spokenTurn, created(), messageAdded(), words('One.'), audio()].map((event) =>
      activityOf(session.apply(event).state),
    );
    expect(activities).toEqual([
      ...['hearing', 'waiting', 'thinking', 'waiting'],
      ...['thinking', 'thinking', 'thinking', 'speaking'],
    ]);
    session.apply(messageDone(), done());
    expect(activityOf(session.state)).toBe('speaking');
    expect(activityOf(session.apply({ type: 'page.played' }).state)).toBe('waiting');
    expect(session.entry('assistant')).toMatchObject({ isPlayed: true, isComplete: true, audioMs: 100 });
  });

  test('shows partial transcripts, and the final one', () => {
    const session = ready().apply(speechStarted, delta('He'), delta('llo'));
    expect(session.entry('user')).toMatchObject({ text: 'Hello', state: 'speaking' });
    session.apply(speechStopped, committed());
    expect(session.entry('user').state).toBe('transcribing');
    session.apply(transcribed('Hello?'));
    expect(session.entry('user')).toMatchObject({ text: 'Hello?', state: 'done' });
  });

  test('that cannot be transcribed shows why', () => {
    const failed = { type: `${TRANSCRIPTION}.failed`, item_id: 'u1', error: { message: 'Too busy.' } };
    const session = ready().apply(speechStarted, speechStopped, committed(), failed);
    expect(session.entry('user')).toMatchObject({ text: 'Too busy.', state: 'failed' });
    expect(activityOf(session.state)).toBe('waiting');
  });

  test('measures its latency from the end of speech in the sent audio', () => {
    const session = ready().at(3200).apply(speechStarted, speechStopped, committed());
    session.at(3300).apply(transcribed('Hello?'), created(), messageAdded());
    session.at(3500).apply(words('One.'));
    session.at(3600).apply(audio());
    session.at(3700).apply(words('Two.'), audio());
    expect(session.state.turns).toMatchObject([{ id: 'u1', input: 'voice', endMs: 3000 }]);
    expect(session.state.turns.map(stageTimes)).toEqual([
      { decision: 200, transcript: 300, token: 500, audio: 600 },
    ]);
  });

  test('prefers the times that the service reports', () => {
    const session = ready()
      .at(3200)
      .apply(...spokenTurn, ...reply);
    session.apply(done({ timing: { turn_decision_ms: 150, first_audio_ms: 420, first_token_ms: 'x' } }));
    expect(session.state.turns.map(stageTimes)).toEqual([
      { decision: 150, transcript: 200, token: 200, audio: 420 },
    ]);
  });
});

describe('a message', () => {
  test('shows its words when they are played', () => {
    const session = ready().apply(created(), messageAdded(), words('One two. ', 0), audio(), audio());
    session.apply(words('Three.', 0.2), audio(), messageDone());
    const entry = session.entry('assistant');
    expect([0, 50, 120, 199, 290].map((ms) => shownText(entry, ms))).toEqual([
      '',
      'One',
      'One',
      'One two.',
      'One two. Three.',
    ]);
  });

  test('without times of its words plays them with the audio that follows', () => {
    const session = ready().apply(created(), messageAdded(), words('One. '), audio(), words('Two.'), audio());
    expect(session.entry('assistant').pieces.map(({ startMs }) => startMs)).toEqual([0, 100]);
  });

  test('of text is shown immediately', () => {
    const text = { type: 'response.output_text.delta', item_id: 'a1', delta: 'Hi.' };
    const session = ready().apply(created(), messageAdded(), text, messageDone(), done());
    expect(session.entry('assistant').isPlayed).toBe(true);
    expect(session.taken()).toEqual([]);
  });

  test('that waits for more audio is not played yet', () => {
    const session = ready().apply(...reply, { type: 'page.played' });
    expect(activityOf(session.state)).toBe('thinking');
    expect(session.entry('assistant').isPlayed).toBe(false);
    session.apply(messageDone());
    expect(session.entry('assistant').isPlayed).toBe(true);
  });

  test('of a failed response shows the error', () => {
    const error = { status: 'failed', status_details: { error: { message: 'The model failed.' } } };
    const session = ready().apply(created(), done(error));
    expect(session.entry('error').text).toBe('The model failed.');
    expect(activityOf(session.state)).toBe('waiting');
  });
});

describe('an interruption by speech', () => {
  const interrupted = (playedMs: number, lengthMs = 100) => {
    const session = ready().apply(...reply);
    session.taken();
    session.playback = [{ itemId: 'a1', playedMs, lengthMs }];
    return session.apply({ ...speechStarted, item_id: 'u2' });
  };

  test('stops the playback and truncates the message to what was played', () => {
    const session = interrupted(61.7);
    expect(session.frame('conversation.item.truncate')).toEqual({
      type: 'conversation.item.truncate',
      item_id: 'a1',
      content_index: 0,
      audio_end_ms: 61,
    });
    expect(session.taken()).toEqual(['conversation.item.truncate', 'stop_playback']);
    expect(activityOf(session.state)).toBe('hearing');
  });

  test('ignores what still arrives of the message', () => {
    const session = interrupted(50);
    session.taken();
    session.apply(audio(), words(' Three.'), messageDone(), done({ status: 'cancelled' }));
    expect(session.taken()).toEqual([]);
    expect(session.entry('assistant')).toMatchObject({ interruptedMs: 50, audioMs: 100 });
    expect(session.entry('assistant').pieces).toHaveLength(1);
  });

  test('truncates all messages that were not played to their end', () => {
    const session = ready().apply(...reply, messageDone(), done(), created('r2'), messageAdded('a2', 'r2'));
    session.apply(words('Three.', 0, 'a2'), audio('a2'), messageAdded('a3', 'r2'));
    session.taken();
    session.playback = [
      { itemId: 'a1', playedMs: 100, lengthMs: 100 },
      { itemId: 'a2', playedMs: 0, lengthMs: 100 },
    ];
    session.apply({ ...speechStarted, item_id: 'u2' });
    const messages = session.state.entries.filter(
      (entry): entry is AssistantEntry => entry.kind === 'assistant',
    );
    expect(messages.map(({ isPlayed, interruptedMs }) => [isPlayed, interruptedMs])).toEqual([
      [true, undefined],
      [false, 0],
      [false, 0],
    ]);
    expect(session.taken()).toEqual([
      'conversation.item.truncate',
      'conversation.item.truncate',
      'stop_playback',
    ]);
  });

  test('after the playback changes nothing', () => {
    const session = ready().apply(...reply, messageDone(), done(), { type: 'page.played' });
    session.taken();
    expect(session.apply({ ...speechStarted, item_id: 'u2' }).taken()).toEqual([]);
  });
});

describe('stopping', () => {
  test('cancels the response, and ignores what still arrives', () => {
    const session = ready().apply(...reply);
    expect(isAnswering(session.state)).toBe(true);
    session.taken();
    expect(session.apply({ type: 'page.stopped' }).taken()).toEqual([
      'response.cancel',
      'conversation.item.truncate',
      'stop_playback',
    ]);
    expect(isAnswering(session.state)).toBe(false);
    session.apply(audio(), messageAdded('a2'), audio('a2'), call('roll_dice'));
    expect(session.taken()).toEqual([]);
    expect(session.state.entries.map(({ id }) => id)).toEqual(['a1']);
    // A second time there is nothing to cancel.
    expect(session.apply({ type: 'page.stopped' }).taken()).toEqual([]);
  });

  test('of the playback of a complete response cancels nothing', () => {
    const session = ready().apply(...reply, messageDone(), done());
    session.taken();
    session.playback = [{ itemId: 'a1', playedMs: 10, lengthMs: 100 }];
    session.apply({ type: 'page.stopped' });
    expect(session.taken()).toEqual(['conversation.item.truncate', 'stop_playback']);
  });

  test('is not an error if the response has just ended', () => {
    const error = { code: 'response_cancel_not_active', message: 'No.', event_id: null };
    expect(ready().apply({ type: 'error', error }).state.error).toBeUndefined();
  });
});

describe('a typed turn', () => {
  test('is sent, answered and measured from the time it was sent', () => {
    const session = ready().at(5000).apply({ type: 'page.typed', text: 'Hi!' });
    expect(session.frame('conversation.item.create')).toMatchObject({
      item: { id: 'typed_1', role: 'user', content: [{ type: 'input_text', text: 'Hi!' }] },
    });
    expect(session.taken()).toEqual(['conversation.item.create', 'response.create']);
    expect(activityOf(session.state)).toBe('thinking');
    session.at(5400).apply(...reply);
    expect(session.state.turns.map(stageTimes)).toEqual([{ token: 400, audio: 400 }]);
  });

  test('interrupts the running response', () => {
    const session = ready().apply(...reply);
    session.taken();
    session.apply({ type: 'page.typed', text: 'Wait.' });
    expect(session.taken()).toEqual([
      'response.cancel',
      'conversation.item.truncate',
      'stop_playback',
      'conversation.item.create',
      'response.create',
    ]);
    session.apply(done({ status: 'cancelled' }));
    expect(activityOf(session.state)).toBe('thinking');
    session.apply(created('r2'));
    expect(session.state.response).toMatchObject({ id: 'r2', isCancelled: false });
  });

  test('whose response is rejected shows the error until the next turn', () => {
    const session = ready().apply({ type: 'page.typed', text: 'Hi!' });
    const event_id = session.state.request ?? null;
    session.apply({ type: 'error', error: { code: 'server_error', message: 'No.', event_id } });
    expect([activityOf(session.state), session.state.error]).toEqual(['waiting', 'No.']);
    expect(session.apply({ type: 'page.typed', text: 'Hi!' }).state.error).toBeUndefined();
  });
});

describe('push to talk', () => {
  const turn = (lengthMs: number): FinishedTurn => ({
    startMs: 500,
    endMs: 500 + lengthMs,
    releasedMs: 4000,
  });

  test('commits the turn when the button is released, and requests a response', () => {
    const session = ready().apply({ type: 'page.pressed' });
    expect(activityOf(session.state)).toBe('hearing');
    expect(session.apply({ type: 'page.released', turn: turn(800) }).taken()).toEqual([
      'input_audio_buffer.commit',
      'response.create',
    ]);
    expect(activityOf(session.state)).toBe('thinking');
    session.at(4050).apply(committed(), created());
    session.at(4200).apply(transcribed('Hello?'));
    expect(session.entry('user')).toMatchObject({ text: 'Hello?', state: 'done' });
    expect(session.state.turns).toMatchObject([{ input: 'button', endMs: 4000 }]);
    expect(session.state.turns.map(stageTimes)).toEqual([{ decision: 50, transcript: 200 }]);
  });

  test('interrupts the answer when the button is pressed', () => {
    const session = ready().apply(...reply);
    session.taken();
    expect(session.apply({ type: 'page.pressed' }).taken()).toEqual([
      'response.cancel',
      'conversation.item.truncate',
      'stop_playback',
    ]);
  });

  test('discards a turn that is too short, or has no audio', () => {
    const session = ready().apply({ type: 'page.pressed' }, { type: 'page.released', turn: turn(80) });
    expect(session.taken()).toEqual(['input_audio_buffer.clear']);
    session.apply({ type: 'page.pressed' }, { type: 'page.released', turn: undefined });
    expect(session.taken()).toEqual([]);
    expect(activityOf(session.state)).toBe('waiting');
  });
});

describe('a function call', () => {
  const output = (callId = 'call_1') => ({ type: 'page.tool_output', callId, output: '3' }) as const;

  test('that the browser runs is answered when its response has ended', () => {
    const session = ready().apply(created(), call('roll_dice'));
    expect(session.taken()).toEqual(['call_tool']);
    expect(session.entry('tool')).toMatchObject({ name: 'roll_dice', isAutomatic: true, output: undefined });
    session.apply(output());
    expect(session.frame('conversation.item.create')).toMatchObject({
      item: { type: 'function_call_output', call_id: 'call_1', output: '3' },
    });
    expect(session.taken()).toEqual(['conversation.item.create']);
    expect(session.apply(done()).taken()).toEqual(['response.create']);
  });

  test('that the browser does not know waits for the user', () => {
    const session = ready().apply(created(), call('find_booking'), done());
    expect(session.taken()).toEqual([]);
    expect(activityOf(session.state)).toBe('needs_output');
    expect(session.apply(output()).taken()).toEqual(['conversation.item.create', 'response.create']);
    expect(session.entry('tool').output).toBe('3');
    // An output is sent once.
    expect(session.apply(output()).taken()).toEqual([]);
  });

  test('is answered with the other calls of its response', () => {
    const session = ready().apply(created(), call('roll_dice'), call('roll_dice', 'call_2'), done());
    session.taken();
    expect(session.apply(output()).taken()).toEqual(['conversation.item.create']);
    expect(session.apply(output('call_2')).taken()).toEqual(['conversation.item.create', 'response.create']);
  });

  test('is answered by the next turn if the user is speaking', () => {
    const session = ready().apply(created(), call('roll_dice'), done(), speechStarted);
    session.taken();
    expect(session.apply(output()).taken()).toEqual(['conversation.item.create']);
    expect(session.apply(speechStopped, committed(), transcribed('Hm?')).taken()).toEqual([]);
  });

  test('counts as the first token', () => {
    const session = ready()
      .at(3200)
      .apply(...spokenTurn, created());
    session.at(3400).apply(call('roll_dice'));
    expect(session.state.turns.map(stageTimes)).toMatchObject([{ token: 400 }]);
  });
});
