import { toBetaEvent } from '../../plugins/realtime/conversation/beta-events.ts';
import { requestEffects, sessionParams } from '../../plugins/realtime/conversation/client-commands.ts';
import { parseConversationFrame } from '../../plugins/realtime/conversation/client-events.ts';
import {
  type ConversationSession,
  initialConversationSession,
  toWireConversationSession,
} from '../../plugins/realtime/conversation/session.ts';
import type { Id } from '../../src/contract/core/id.ts';
import { invalidRequestError } from '../../src/conversation/events/errors.ts';
import type { TimedWord } from '../../src/conversation/items/item.ts';
import * as machine from '../../src/conversation/state/conversation-machine.ts';
import * as rules from '../../tools/trace-check/check.ts';
import { serverEventError } from '../../tools/trace-check/frame-schema.ts';
import { FAILURE } from '../harness/conversation-machine.ts';
import { CONVERSATION } from '../harness/realtime-app.ts';

/**
 * The connection of a conversation without sockets, engines and time: the session, the state machine, and scripted results of the
 * engines. Every event of the server is checked by the rules and schemas, and every state by the invariants. Immutable.
 */
export interface Simulation {
  readonly session: ConversationSession;
  readonly state: machine.State;
  readonly isBeta: boolean;

  // The engines.
  readonly isInputOpen: boolean;
  readonly hasAudio: boolean;
  /** The detected turn that is not committed. */
  readonly turn: Id<'item_'> | undefined;
  readonly transcriptions: readonly { readonly itemId: Id<'item_'>; readonly text: string }[];
  readonly replies: readonly Reply[];
  /** A reply that was stopped or has ended, and may still report. */
  readonly lateReply: Id<'resp_'> | undefined;
  readonly lateTurn: Id<'item_'> | undefined;
  readonly hasSpoken: boolean;
  readonly isIdleTimerRunning: boolean;
  /** Received audio, in ms. */
  readonly clockMs: number;

  readonly order: rules.State;
  /** Violated rules, schemas and invariants. */
  readonly faults: readonly string[];
  readonly idCount: number;
  readonly hasEnded: boolean;
  /** Called with every entry of the trace. */
  readonly watch: (entry: rules.TraceEntry) => void;
}

interface Reply {
  readonly responseId: Id<'resp_'>;
  readonly isAudio: boolean;
  /** Whether it may only report a failure. */
  readonly isFailure: boolean;
  readonly hasMessage: boolean;
  readonly words: number;
  readonly audioMs: number;
  readonly calls: number;
}

/** Length of a word, in ms. */
const WORD_MS = 100;
const MAX_TURNS = machine.MAX_PENDING_TURNS;

/** A new connection. */
export function opened(isBeta = false, watch: Simulation['watch'] = () => undefined): Simulation {
  const session = initialConversationSession('sess_1', CONVERSATION, 1_700_000_000);
  const simulation: Simulation = {
    session,
    state: machine.initial('conv_1', session.settings),
    isBeta,
    isInputOpen: true,
    hasAudio: false,
    turn: undefined,
    transcriptions: [],
    replies: [],
    lateReply: undefined,
    lateTurn: undefined,
    hasSpoken: false,
    isIdleTimerRunning: false,
    clockMs: 0,
    order: rules.initial,
    faults: [],
    idCount: 0,
    hasEnded: false,
    watch,
  };
  return sent(simulation, sessionEvent('session.created', session));
}

// The wire.

function sessionEvent(type: string, session: ConversationSession) {
  return { type, session: toWireConversationSession(session) };
}

/** Checks and records an event of the server. */
function sent(before: Simulation, event: { readonly type: string }): Simulation {
  const named = before.isBeta ? toBetaEvent(event) : event;
  if (named === undefined) return before;
  const idCount = before.idCount + 1;
  const frame = { event_id: `event_${idCount}`, ...named };
  const { dialect } = before.order;
  const fault = dialect === undefined ? undefined : serverEventError(frame, dialect);
  const after = recorded({ ...before, idCount }, { from: 'server', frame });
  return fault === undefined ? after : faulty(after, `schema: ${fault}`);
}

function recorded(before: Simulation, entry: rules.TraceEntry): Simulation {
  before.watch(entry);
  const { state: order, violations } = rules.check(before.order, entry);
  const after = { ...before, order };
  if (violations.length === 0) return after;
  return faulty(after, ...violations.map(({ rule, message }) => `${rule}: ${message}`));
}

function faulty(before: Simulation, ...faults: readonly string[]): Simulation {
  return { ...before, faults: [...before.faults, ...faults] };
}

/** Records a frame of the client that the server reads later. */
export function recordClientFrame(before: Simulation, frame: unknown): Simulation {
  return before.hasEnded ? before : recorded(before, { from: 'client', frame });
}

/** The client sends a frame, which the server reads immediately. */
export function clientSent(before: Simulation, frame: object): Simulation {
  return received(recordClientFrame(before, frame), JSON.stringify(frame));
}

/** The server reads a recorded frame. */
export function received(before: Simulation, text: string | Uint8Array): Simulation {
  if (before.hasEnded) return before;
  const parsed = parseConversationFrame(text);
  if ('error' in parsed) {
    const { message, param } = parsed.error;
    const error = invalidRequestError(parsed.openaiCode, message, param);
    return happened(before, { kind: 'rejected', error, eventId: parsed.eventId });
  }
  const { event } = parsed;
  const eventId = event.event_id ?? null;
  if (event.type === 'input_audio_buffer.append') {
    return before.isInputOpen ? { ...before, hasAudio: true } : before;
  }
  const { hasSpoken } = before;
  const context = { model: CONVERSATION, lookup: undefined, hasSpoken };
  const { session, errors, command } = requestEffects(before.session, event, context);
  let after: Simulation = { ...before, session };
  for (const error of errors) after = happened(after, { kind: 'rejected', error, eventId });
  if (command !== undefined) after = happened(after, { kind: 'command', command, eventId });
  if (event.type !== 'session.update' || after.hasEnded) return after;
  return sent(after, sessionEvent('session.updated', session));
}

// The state machine.

/** Performs an event, the effects, and the events that they cause. */
export function happened(before: Simulation, ...events: readonly machine.Event[]): Simulation {
  let now = before;
  const queue = [...events];
  for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
    const idCount = now.idCount + 1;
    const { session } = now;
    const { state, effects } = machine.next(now.state, event, {
      freshResponseId: `resp_${idCount}`,
      maxPromptTokens: undefined,
      automaticParams: (settings) => sessionParams(session, settings),
    });
    now = { ...now, state, idCount };
    for (const effect of effects) now = performed(now, effect, queue);
  }
  const faults = brokenInvariants(now);
  return faults.length === 0 ? now : faulty(now, ...faults);
}

function performed(before: Simulation, effect: machine.Effect, queue: machine.Event[]): Simulation {
  switch (effect.kind) {
    case 'emit':
      return sent(before, effect.event);
    case 'emit_audio': {
      const { responseId: response_id, itemId: item_id, outputIndex: output_index, audio } = effect;
      const place = { response_id, item_id, output_index, content_index: 0 };
      const type = 'response.output_audio.delta';
      const event = { type, ...place, delta: audio.toBase64() };
      return sent({ ...before, hasSpoken: true }, event);
    }
    case 'configure_input': {
      const { turn } = before;
      if (turn !== undefined) queue.push(...turnEnd(turn, before.clockMs));
      return { ...before, turn: undefined };
    }
    case 'commit_input':
      return committed(before, effect.eventId, queue);
    case 'clear_input': {
      const { turn } = before;
      if (turn !== undefined) queue.push({ kind: 'turn_dropped', itemId: turn });
      return { ...before, turn: undefined, hasAudio: false };
    }
    case 'stop_input':
      return { ...before, turn: undefined, hasAudio: false, isInputOpen: false };
    case 'transcribe':
      return { ...before, transcriptions: [...before.transcriptions, { itemId: effect.itemId, text: '' }] };
    case 'start_reply': {
      const { responseId, request } = effect;
      const isKnown = before.replies.some((each) => each.responseId === responseId);
      const reply: Reply = {
        responseId,
        isAudio: request.settings.modality === 'audio',
        isFailure: request.kind === 'failure',
        hasMessage: false,
        words: 0,
        audioMs: 0,
        calls: 0,
      };
      const after = { ...before, replies: [...before.replies, reply] };
      return isKnown ? faulty(after, `the reply of ${responseId} started twice`) : after;
    }
    case 'stop_reply':
      return withoutReply(before, effect.responseId);
    case 'start_idle_timer':
      return { ...before, isIdleTimerRunning: true };
    case 'stop_idle_timer':
      return { ...before, isIdleTimerRunning: false };
    case 'close':
    case 'release':
      return { ...before, hasEnded: true };
    case 'stop_playback':
      return before;
  }
}

function turnEnd(itemId: Id<'item_'>, audioEndMs: number): machine.Event[] {
  return [
    { kind: 'speech_stopped', itemId, audioEndMs },
    { kind: 'turn_committed', itemId, isDetected: true },
  ];
}

function committed(before: Simulation, eventId: string | null, queue: machine.Event[]): Simulation {
  const { turn } = before;
  const idCount = before.idCount + 1;
  if (turn !== undefined) queue.push(...turnEnd(turn, before.clockMs));
  else if (before.hasAudio) {
    queue.push({ kind: 'turn_committed', itemId: `item_${idCount}`, isDetected: false });
  } else {
    const error = invalidRequestError('input_audio_buffer_commit_empty', 'buffer too small');
    queue.push({ kind: 'rejected', error, eventId });
  }
  return { ...before, idCount, turn: undefined, hasAudio: false };
}

function withoutReply(before: Simulation, responseId: Id<'resp_'>): Simulation {
  const replies = before.replies.filter((each) => each.responseId !== responseId);
  return { ...before, replies, lateReply: responseId };
}

/** What must hold after every event. */
function brokenInvariants({ state, replies, transcriptions, turn, hasEnded }: Simulation): string[] {
  const { life, responses, turns, spoken } = state;
  const faults: string[] = [];
  const expect = (holds: boolean, invariant: string) => {
    if (!holds) faults.push(invariant);
  };
  const generating = responses.filter(({ phase }) => phase === 'generating').map(({ id }) => id);
  expect(responses.filter(({ isOutOfBand }) => !isOutOfBand).length <= 1, 'one response of the conversation');
  expect(responses.length <= 1 + machine.MAX_OUT_OF_BAND, 'a limited number of responses');
  expect(spoken.size <= 8, 'a limited number of spoken items');
  if (hasEnded || life === 'closing' || life === 'closed') return faults;
  const running = replies.map(({ responseId }) => responseId);
  expect(
    JSON.stringify(generating.sort()) === JSON.stringify(running.sort()),
    'every generated response has a running reply, and no other',
  );
  expect(
    JSON.stringify(turns.map(({ itemId }) => itemId)) ===
      JSON.stringify(transcriptions.map(({ itemId }) => itemId)),
    'every pending turn is transcribed once',
  );
  expect(
    turns.length > 0 || responses.every(({ phase }) => phase === 'generating'),
    'a response waits only for transcripts',
  );
  const isFree =
    turn === undefined && turns.length === 0 && responses.every(({ isOutOfBand }) => isOutOfBand);
  const mayAnswer = isFree && life === 'open' && state.fatalError === undefined;
  expect(!(mayAnswer && state.owesResponse), 'a turn is answered when nothing precedes it');
  expect(life !== 'draining' || turns.length + responses.length > 0, 'draining ends with the work');
  return faults;
}

// The engines. Each function returns undefined if the engine cannot report this.

/** Speech starts, while `unplayedMs` of the assistant's audio are not played. */
export function speechStarts(before: Simulation, unplayedMs = 0): Simulation | undefined {
  const { isInputOpen, state, turn } = before;
  if (!isInputOpen || turn !== undefined || state.settings.turnDetection === undefined) return undefined;
  if (before.transcriptions.length >= MAX_TURNS) return undefined;
  const idCount = before.idCount + 1;
  const itemId = `item_${idCount}` as const;
  const audioStartMs = before.clockMs;
  return happened(
    { ...before, idCount, turn: itemId, clockMs: audioStartMs + 10 },
    { kind: 'speech_started', itemId, audioStartMs, unplayedMs },
  );
}

export function speechStops(before: Simulation): Simulation | undefined {
  const { turn, clockMs } = before;
  if (turn === undefined) return undefined;
  return happened({ ...before, turn: undefined, clockMs: clockMs + 10 }, ...turnEnd(turn, clockMs));
}

export function detectorFails(before: Simulation): Simulation | undefined {
  if (!before.isInputOpen || before.state.settings.turnDetection === undefined) return undefined;
  const { turn, clockMs } = before;
  const end = turn === undefined ? [] : turnEnd(turn, clockMs);
  return happened({ ...before, turn: undefined }, ...end, { kind: 'detector_failed', error: FAILURE });
}

/** The oldest transcription reports text, or ends. */
export function transcribes(
  before: Simulation,
  result: 'words' | 'completed' | 'failed' | 'out of credits',
): Simulation | undefined {
  const [first, ...rest] = before.transcriptions;
  if (first === undefined) return undefined;
  const { itemId, text } = first;
  if (result === 'words') {
    const transcriptions = [{ itemId, text: `${text}word ` }, ...rest];
    return happened({ ...before, transcriptions }, { kind: 'transcript_delta', itemId, text: 'word ' });
  }
  const ended = { ...before, transcriptions: rest, lateTurn: itemId };
  if (result === 'completed') {
    const usage = {
      type: 'tokens',
      total_tokens: 12,
      input_tokens: 7,
      output_tokens: 5,
      input_token_details: { text_tokens: 0, audio_tokens: 7 },
    } as const;
    return happened(ended, { kind: 'transcript_completed', itemId, transcript: text, usage });
  }
  const isFatal = result === 'out of credits';
  const error = isFatal ? NO_CREDITS : FAILURE;
  return happened(ended, { kind: 'transcript_failed', itemId, error, isFatal });
}

const NO_CREDITS = {
  type: 'insufficient_quota',
  code: 'insufficient_quota',
  message: 'No credits.',
} as const;

export type ReplyResult =
  | 'speaks'
  | 'sounds'
  | 'calls'
  | 'ends'
  | 'is too long'
  | 'fails'
  | 'runs out of credits';

/** A running reply reports something. @param isOutOfBand which reply. */
export function replies(
  before: Simulation,
  result: ReplyResult,
  isOutOfBand = false,
): Simulation | undefined {
  const { responses } = before.state;
  const reply = before.replies.find(
    ({ responseId }) => responses.find(({ id }) => id === responseId)?.isOutOfBand === isOutOfBand,
  );
  if (reply === undefined) return undefined;
  const { responseId } = reply;
  const event = (each: machine.ReplyEvent): machine.Event => ({ kind: 'reply', responseId, event: each });
  switch (result) {
    case 'speaks':
      return speaks(before, reply, event);
    case 'sounds': {
      if (!reply.isAudio || reply.audioMs >= reply.words * WORD_MS) return undefined;
      const longer = withReply(before, { ...reply, audioMs: reply.audioMs + WORD_MS });
      return happened(longer, event({ kind: 'audio', audio: new Uint8Array(4), lengthMs: WORD_MS }));
    }
    case 'calls': {
      if (reply.isFailure) return undefined;
      const idCount = before.idCount + 1;
      const ids = { itemId: `item_${idCount}`, callId: `call_${idCount}` } as const;
      return happened(
        withReply({ ...before, idCount }, { ...reply, calls: reply.calls + 1 }),
        event({ kind: 'call', ...ids, name: 'weather', arguments: '{"city":"Rome"}' }),
      );
    }
    case 'ends':
    case 'is too long': {
      if (reply.isFailure) return undefined;
      const end = result === 'ends' ? 'completed' : 'max_output_tokens';
      const usage = { text: { input: 12, output: 5, cached: 4, reasoning: 0 }, audioTokens: 3 };
      return happened(withoutReply(before, responseId), event({ kind: 'ended', end, usage }));
    }
    case 'fails':
      return happened(
        withoutReply(before, responseId),
        event({ kind: 'failed', error: FAILURE, isFatal: false }),
      );
    case 'runs out of credits':
      return happened(
        withoutReply(before, responseId),
        event({ kind: 'failed', error: NO_CREDITS, isFatal: true }),
      );
  }
}

function speaks(
  before: Simulation,
  reply: Reply,
  event: (each: machine.ReplyEvent) => machine.Event,
): Simulation | undefined {
  // Calls follow the message.
  if (reply.isFailure ? !reply.isAudio : reply.calls > 0) return undefined;
  const idCount = before.idCount + 1;
  const start = reply.hasMessage ? [] : [event({ kind: 'message_started', itemId: `item_${idCount}` })];
  const startMs = reply.words * WORD_MS;
  const word: TimedWord = { text: `w${reply.words} `, startMs, endMs: startMs + WORD_MS };
  const said = reply.isAudio
    ? event({ kind: 'clause', words: [word], startMs })
    : event({ kind: 'text', delta: word.text });
  const longer = { ...reply, hasMessage: true, words: reply.words + 1 };
  return happened(withReply({ ...before, idCount }, longer), ...start, said);
}

function withReply(before: Simulation, reply: Reply): Simulation {
  const all = before.replies.map((each) => (each.responseId === reply.responseId ? reply : each));
  return { ...before, replies: all };
}

/** Ended replies and transcriptions report again, which has no effect. */
export function reportsLate(before: Simulation): Simulation | undefined {
  const { lateReply, lateTurn } = before;
  if (lateReply === undefined && lateTurn === undefined) return undefined;
  const events: machine.Event[] = [];
  if (lateReply !== undefined) {
    const call = { itemId: 'item_late', callId: 'call_late', name: 'late', arguments: '{}' } as const;
    events.push(
      { kind: 'reply', responseId: lateReply, event: { kind: 'call', ...call } },
      { kind: 'reply', responseId: lateReply, event: { kind: 'failed', error: FAILURE, isFatal: true } },
    );
  }
  if (lateTurn !== undefined) {
    events.push(
      { kind: 'transcript_delta', itemId: lateTurn, text: 'late' },
      { kind: 'transcript_failed', itemId: lateTurn, error: FAILURE, isFatal: true },
    );
  }
  const after = happened(before, ...events);
  return after.state === before.state || JSON.stringify(after.state) === JSON.stringify(before.state)
    ? after
    : faulty(after, 'a late report has no effect');
}

export function idleElapses(before: Simulation): Simulation | undefined {
  if (!before.isIdleTimerRunning) return undefined;
  const idCount = before.idCount + 1;
  const { clockMs } = before;
  return happened(
    { ...before, idCount, isIdleTimerRunning: false, clockMs: clockMs + 10 },
    { kind: 'idle_elapsed', itemId: `item_${idCount}`, audioStartMs: clockMs, audioEndMs: clockMs + 10 },
  );
}

/** Finishes all work, and ends the trace. */
export function settled(before: Simulation): Simulation {
  let now = before;
  for (let step: Simulation | undefined = now; step !== undefined && !step.hasEnded; ) {
    now = step;
    step =
      speechStops(now) ??
      transcribes(now, 'completed') ??
      replies(now, 'ends') ??
      replies(now, 'ends', true) ??
      replies(now, 'fails') ??
      replies(now, 'fails', true);
    if (step?.hasEnded) now = step;
  }
  return recorded(now, { end: now.hasEnded ? 'cut' : 'quiet' });
}
