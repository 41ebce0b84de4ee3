import { parseClientFrame } from '../../plugins/realtime/protocol/client-events.ts';
import {
  initialSession,
  namedVoice,
  type VoiceLookupResult,
} from '../../plugins/realtime/session/session.ts';
import type { ClientCommand, Effect, Event } from '../../plugins/realtime/state/realtime-machine.ts';
import * as machine from '../../plugins/realtime/state/realtime-machine.ts';
import type { Id } from '../../src/contract/core/id.ts';
import { TurnAudio } from '../../src/listen/turn-audio.ts';
import * as turns from '../../src/listen/turn-machine.ts';
import type { SegmentedTurn, SegmenterEvent } from '../../src/listen/turn-segmenter.ts';
import * as rules from '../../tools/trace-check/check.ts';

/**
 * A realtime connection without sockets, engines and time: the state machines of connection and turns, with scripted
 * engine results, checked by the order rules. Immutable: every step returns a new value, so that tests can explore
 * several continuations.
 */
export interface Simulation {
  readonly state: machine.State;
  readonly turn: turns.TurnState;
  /** The open turn of the detector. */
  readonly open: SegmentedTurn | undefined;
  readonly hasAudio: boolean;
  readonly isDeaf: boolean;
  /** The running transcription; it may report text and end when it is `confirmed`. */
  readonly transcription:
    | { readonly itemId: Id<'item_'>; readonly confirmed: boolean; readonly text: string }
    | undefined;
  /** Item ids of committed turns. */
  readonly confirmed: ReadonlySet<string>;
  /** The response that is being synthesized. */
  readonly spoken: Id<'resp_'> | undefined;
  /** Text whose synthesis has not started. */
  readonly unspoken: string;
  /** Ended ids for which engines may still report late results. */
  readonly lateItem: Id<'item_'> | undefined;
  readonly lateResponse: Id<'resp_'> | undefined;
  readonly order: rules.State;
  readonly violations: readonly rules.Violation[];
  readonly idCount: number;
  readonly ended: boolean;
  /** Called with every entry of the trace. */
  readonly watch: (entry: rules.TraceEntry) => void;
}

export interface Opening {
  readonly dialect: 'spec' | 'ga';
  /** Whether the dialect is fixed by the handshake; otherwise the first update can select it. */
  readonly isFixed?: boolean;
  readonly watch?: (entry: rules.TraceEntry) => void;
}

export const STORED_VOICE = 'tts-vc-voice_1';

const SESSION_RULES: machine.Rules = {
  sttModels: ['svc-stt'],
  ttsModels: ['svc-tts'],
  defaultSttModel: 'svc-stt',
  defaultTtsModel: 'svc-tts',
  languagesOf: () => ['en', 'de'],
  maxTextCharacters: 5000,
};

/** A new connection. */
export function opened({ dialect, isFixed = true, watch = () => undefined }: Opening): Simulation {
  const session = initialSession('sess_1', SESSION_RULES, new URLSearchParams());
  const state = machine.initial({ session, dialect, dialectFixed: isFixed, conversationId: 'conv_1' });
  const simulation: Simulation = {
    state,
    turn: turns.initial,
    open: undefined,
    hasAudio: false,
    isDeaf: false,
    transcription: undefined,
    confirmed: new Set(),
    spoken: undefined,
    unspoken: '',
    lateItem: undefined,
    lateResponse: undefined,
    order: rules.initial,
    violations: [],
    idCount: 0,
    ended: false,
    watch,
  };
  return happened(simulation, { kind: 'opened' });
}

/** The client sends an event. */
export function clientSent(before: Simulation, command: ClientCommand): Simulation {
  return read(recordClientFrame(before, command), command);
}

/** The server reads a recorded event. */
function read(before: Simulation, command: ClientCommand): Simulation {
  const idCount = before.idCount + 2;
  return happened(
    { ...before, idCount },
    {
      kind: 'command_received',
      command,
      voice: lookupVoice(command),
      freshItemId: `item_${idCount}`,
      freshResponseId: `resp_${idCount}`,
    },
  );
}

/** Result of the voice lookup; only {@link STORED_VOICE} exists. */
function lookupVoice(command: ClientCommand): VoiceLookupResult | undefined {
  const voice = command.type === 'session.update' ? namedVoice(command.session) : undefined;
  if (voice === undefined) return undefined;
  return voice === STORED_VOICE ? 'found' : 'missing';
}

/** Records a client frame that the server reads later. */
export function recordClientFrame(simulation: Simulation, frame: unknown): Simulation {
  return checked(simulation, { from: 'client', frame });
}

/** The server reads the recorded client events. */
export function received(before: Simulation, text: string | Uint8Array): Simulation {
  const parsed = parseClientFrame(text);
  if ('error' in parsed) return happened(before, { kind: 'frame_rejected', ...parsed });
  const { event } = parsed;
  if (event.type !== 'input_audio_buffer.append') return read(before, event);
  return before.isDeaf ? before : { ...before, hasAudio: true };
}

/** The client appends audio. */
export function appended(before: Simulation): Simulation {
  const recorded = recordClientFrame(before, { type: 'input_audio_buffer.append', audio: 'AAAA' });
  return recorded.isDeaf ? recorded : { ...recorded, hasAudio: true };
}

/** The detector reports an event; undefined if the event is not possible. */
export function detected(
  before: Simulation,
  kind: 'started' | 'paused' | 'stopped' | 'detector_failed',
): Simulation | undefined {
  if (before.isDeaf || !before.hasAudio || before.turn.kind === 'manual') return undefined;
  if ((kind === 'started') !== (before.open === undefined) && kind !== 'detector_failed') return undefined;
  const events: Readonly<Record<typeof kind, turns.TurnEvent>> = {
    started: { kind: 'started', onsetSample: 0, startSample: 0 },
    paused: { kind: 'paused', endSample: 0 },
    stopped: { kind: 'stopped', endSample: 0 },
    detector_failed: { kind: 'detector_failed', error: new Error('gone') },
  };
  const { simulation, reported } = applyTurnEvent(before, events[kind]);
  return reported.reduce((next, event) => happened(next, { kind: 'segmented', event }), simulation);
}

/** The running transcription reports an event; undefined if the event is not possible. */
export function transcribed(
  before: Simulation,
  kind: 'delta' | 'completed' | 'failed',
): Simulation | undefined {
  const { transcription } = before;
  if (transcription === undefined) return undefined;
  const { itemId, text } = transcription;
  if (kind === 'delta') {
    const next = { ...before, transcription: { ...transcription, text: `${text}word ` } };
    // The text of a turn is withheld until the turn is confirmed.
    if (!transcription.confirmed) return next;
    return happened(next, { kind: 'transcribed', event: { kind, itemId, text: 'word ' } });
  }
  if (!transcription.confirmed) return undefined;
  const next = { ...before, transcription: undefined, lateItem: itemId };
  const error = { type: 'server_error', code: 'upstream_error', message: 'gone' } as const;
  const tokens = { audio: 7, text: 0, output: 5 };
  const event =
    kind === 'failed'
      ? ({ kind, itemId, error } as const)
      : ({ kind, itemId, transcript: text, tokens } as const);
  return happened(next, { kind: 'transcribed', event });
}

/** The running synthesis reports an event; undefined if the event is not possible. */
export function spoke(before: Simulation, kind: 'audio' | 'ended' | 'failed'): Simulation | undefined {
  const { spoken: responseId, unspoken } = before;
  if (responseId === undefined) return undefined;
  const ended = { ...before, spoken: undefined, lateResponse: responseId };
  switch (kind) {
    case 'audio': {
      const started =
        unspoken === ''
          ? before
          : happened(
              { ...before, unspoken: '' },
              { kind: 'synthesized', event: { kind: 'sentence_started', responseId, text: unspoken } },
            );
      return happened(started, {
        kind: 'synthesized',
        event: { kind: 'audio_generated', responseId, base64: 'AAAA' },
      });
    }
    case 'ended': {
      if (unspoken !== '') return undefined;
      const tokens = { input: 4, output: 5 };
      return happened(ended, {
        kind: 'synthesized',
        event: { kind: 'synthesis_completed', responseId, tokens },
      });
    }
    case 'failed': {
      const error = { type: 'server_error', code: 'upstream_error', message: 'gone' } as const;
      return happened(ended, { kind: 'synthesized', event: { kind: 'synthesis_failed', responseId, error } });
    }
  }
}

/** Engines report late results of ended items and responses. */
export function late(before: Simulation): Simulation | undefined {
  const { lateItem, lateResponse } = before;
  if (lateItem === undefined && lateResponse === undefined) return undefined;
  const items: Event[] =
    lateItem === undefined
      ? []
      : [{ kind: 'transcribed', event: { kind: 'delta', itemId: lateItem, text: 'late' } }];
  const responses: Event[] =
    lateResponse === undefined
      ? []
      : [
          {
            kind: 'synthesized',
            event: { kind: 'audio_generated', responseId: lateResponse, base64: 'AAAA' },
          },
        ];
  return [...items, ...responses].reduce(happened, before);
}

/** The service shuts down. */
export function drained(before: Simulation): Simulation {
  return happened(before, { kind: 'drain_requested' });
}

/** Completes everything that runs and checks that nothing is missing. */
export function settled(before: Simulation): Simulation {
  let now = before;
  for (;;) {
    const next = detected(now, 'stopped') ?? transcribed(now, 'completed') ?? spoke(now, 'audio');
    if (next === undefined || now.ended) break;
    now = now.spoken === undefined ? next : (spoke(next, 'ended') ?? next);
  }
  return checked(now, { end: now.ended ? 'cut' : 'quiet' });
}

function happened(before: Simulation, first: Event): Simulation {
  const queue: Event[] = [first];
  let simulation = before;
  for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
    const { state, effects } = machine.next(simulation.state, event, SESSION_RULES);
    simulation = { ...simulation, state };
    for (const effect of effects) simulation = performed(simulation, effect, queue);
  }
  return simulation;
}

/** Performs an effect; resulting events are queued. */
function performed(before: Simulation, effect: Effect, queue: Event[]): Simulation {
  switch (effect.kind) {
    case 'send': {
      const idCount = before.idCount + 1;
      const frame = { event_id: `event_${idCount}`, ...effect.event };
      return checked({ ...before, idCount }, { from: 'server', frame });
    }
    case 'configure_input':
      return queueTurnEvent(
        before,
        { kind: 'configured', by: effect.detection ? 'detector' : 'client' },
        queue,
      );
    case 'commit_input': {
      const hasAudio = before.open !== undefined || before.hasAudio;
      if (!hasAudio) {
        const error = { code: 'invalid_request_error', message: 'empty', param: null } as const;
        queue.push({ kind: 'frame_rejected', error, eventId: effect.eventId });
      }
      return queueTurnEvent(before, { kind: 'commit_requested', hasAudio }, queue);
    }
    case 'clear_input':
      return queueTurnEvent(before, { kind: 'clear_requested' }, queue);
    case 'stop_input':
      return { ...before, isDeaf: true, open: undefined };
    case 'transcribe':
    case 'confirm':
    case 'stop':
    case 'abandon': {
      const { itemId, kind } = effect;
      if (kind === 'transcribe') {
        return { ...before, transcription: { itemId, confirmed: before.confirmed.has(itemId), text: '' } };
      }
      if (kind === 'confirm') {
        const confirmed = new Set(before.confirmed).add(itemId);
        if (before.transcription?.itemId !== itemId) return { ...before, confirmed };
        const { text } = before.transcription;
        if (text !== '') queue.push({ kind: 'transcribed', event: { kind: 'delta', itemId, text } });
        return { ...before, confirmed, transcription: { ...before.transcription, confirmed: true } };
      }
      if (before.transcription?.itemId !== itemId) return before;
      return { ...before, transcription: undefined, lateItem: itemId };
    }
    case 'synthesize':
      return { ...before, spoken: effect.responseId, unspoken: effect.text };
    case 'stop_response':
      return { ...before, spoken: undefined, lateResponse: effect.responseId };
    case 'close':
      return { ...before, ended: true };
    case 'release':
      return before;
    default:
      return effect satisfies never;
  }
}

function queueTurnEvent(before: Simulation, event: turns.TurnEvent, queue: Event[]): Simulation {
  if (before.isDeaf) return before;
  const { simulation, reported } = applyTurnEvent(before, event);
  queue.push(...reported.map((each) => ({ kind: 'segmented', event: each }) as const));
  return simulation;
}

/** Applies an event to the state machine of turns. */
function applyTurnEvent(
  before: Simulation,
  event: turns.TurnEvent,
): { readonly simulation: Simulation; readonly reported: readonly SegmenterEvent[] } {
  const { state, effects } = turns.next(before.turn, event);
  let simulation: Simulation = { ...before, turn: state };
  const reported: SegmenterEvent[] = [];
  const newTurn = (): SegmentedTurn => {
    simulation = { ...simulation, idCount: simulation.idCount + 1 };
    return { itemId: `item_${simulation.idCount}`, audio: new TurnAudio() };
  };
  for (const effect of effects) {
    const { open, idCount } = simulation;
    switch (effect.kind) {
      case 'start_turn': {
        const turn = newTurn();
        simulation = { ...simulation, open: turn };
        reported.push({ kind: 'speech_started', turn, audioStartMs: idCount });
        break;
      }
      case 'stop_turn':
      case 'cut_turn':
      case 'end_turn':
        if (open === undefined) break;
        reported.push({
          kind: 'speech_stopped',
          itemId: open.itemId,
          audioEndMs: idCount,
          speechEndMs: idCount,
        });
        reported.push({ kind: 'committed', turn: open });
        simulation = { ...simulation, open: undefined, hasAudio: effect.kind !== 'end_turn' };
        break;
      case 'drop_turn':
        if (open !== undefined) reported.push({ kind: 'dropped', itemId: open.itemId });
        simulation = { ...simulation, open: undefined };
        break;
      case 'commit_buffered':
        reported.push({ kind: 'committed', turn: newTurn() });
        simulation = { ...simulation, hasAudio: false };
        break;
      case 'clear_buffer':
        simulation = { ...simulation, hasAudio: false };
        break;
      case 'report_failure':
        reported.push({ kind: 'detector_failed', error: effect.error });
        break;
      case 'pause_turn':
      case 'resume_turn':
      case 'reject_commit':
      case 'restart_detector':
        break;
      default:
        effect satisfies never;
    }
  }
  return { simulation, reported };
}

function checked(before: Simulation, entry: rules.TraceEntry): Simulation {
  before.watch(entry);
  const { state, violations } = rules.check(before.order, entry);
  return violations.length === 0
    ? { ...before, order: state }
    : { ...before, order: state, violations: [...before.violations, ...violations] };
}
