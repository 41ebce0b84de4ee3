/**
 * One connection, pure: what a client asks and what engines report go in, frames and orders to engines come out.
 * Put together from the machines of the connection's life, of transcriptions and of responses, from the session
 * and the conversation. Audio itself does not pass through here.
 */

import type { Id } from '../../../src/contract/core/id.ts';
import type { VadSettings } from '../../../src/contract/engines/engine.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
import type { SegmenterEvent, Turn } from '../../../src/listen/turn-segmenter.ts';
import type { ClientEvent } from '../protocol/client-events.ts';
import { type Dialect, inDialect } from '../protocol/dialect.ts';
import { errorEvent, invalidEvent, type Refusal, unsupportedFeature } from '../protocol/errors.ts';
import type { ServerEvent, WireEvent, WireItem } from '../protocol/server-events.ts';
import {
  mergeSession,
  type Session,
  type SessionRules,
  sessionOnWire,
  type VoiceAnswer,
} from '../session/session.ts';
import * as connection from './connection-machine.ts';
import {
  addAssistantItem,
  addAudioItem,
  type Conversation,
  createItem,
  EMPTY_CONVERSATION,
  findItem,
  latestUserText,
  withItem,
  withTranscript,
} from './conversation.ts';
import * as response from './response-machine.ts';
import * as transcription from './transcription-machine.ts';

/** What one connection is: nothing else is remembered of it. */
export interface State {
  readonly connection: connection.State;
  readonly session: Session;
  readonly dialect: Dialect;
  /** Whether the client chose the dialect when it connected; otherwise its first update may. */
  readonly dialectFixed: boolean;
  readonly conversationId: Id<'conversation'>;
  readonly conversation: Conversation;
  readonly transcription: transcription.State;
  readonly response: response.State;
}

/** Every client event but an append, which carries data and asks for nothing. */
export type ClientAsk = Exclude<ClientEvent, { readonly type: 'input_audio_buffer.append' }>;

export type Event =
  | { readonly kind: 'opened' }
  | {
      readonly kind: 'asked';
      readonly ask: ClientAsk;
      /** Of the voice that a `session.update` names. */
      readonly voice?: VoiceAnswer | undefined;
      /** For what this event may make. */
      readonly freshItemId: Id<'item'>;
      readonly freshResponseId: Id<'response'>;
    }
  /** A frame was not accepted. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly eventId: string | null }
  | { readonly kind: 'heard'; readonly event: SegmenterEvent }
  | { readonly kind: 'transcribed'; readonly fact: transcription.TranscriptionFact }
  | { readonly kind: 'spoken'; readonly fact: response.SpeakingFact }
  | { readonly kind: 'drain_ordered' }
  | { readonly kind: 'fault_found' }
  | { readonly kind: 'socket_closed' };

export type Effect =
  | { readonly kind: 'send'; readonly event: WireEvent }
  | {
      readonly kind: 'configure_input';
      readonly format: AudioFormat;
      readonly detection: VadSettings | undefined;
    }
  | { readonly kind: 'commit_input'; readonly eventId: string | null }
  | { readonly kind: 'clear_input' }
  | { readonly kind: 'deafen' }
  /** Keep the audio of a turn, and how it is to be understood, until its transcription ends. */
  | { readonly kind: 'keep'; readonly turn: Turn; readonly session: Session }
  | { readonly kind: 'transcription'; readonly effect: Exclude<transcription.Effect, { kind: 'send' }> }
  | {
      readonly kind: 'synthesize';
      readonly responseId: Id<'response'>;
      readonly text: string;
      readonly session: Session;
    }
  | { readonly kind: 'stop_response'; readonly responseId: Id<'response'> }
  | { readonly kind: 'close'; readonly why: 'shutting_down' | 'fault' }
  | { readonly kind: 'release' };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** What does not change while the service runs. */
export interface Rules extends SessionRules {
  /** Unicode code points of a text that can be spoken. */
  readonly maxTextCharacters: number;
}

export interface Beginning {
  readonly session: Session;
  readonly dialect: Dialect;
  readonly dialectFixed: boolean;
  readonly conversationId: Id<'conversation'>;
}

/** A connection whose upgrade was accepted. */
export function initial(beginning: Beginning): State {
  return {
    ...beginning,
    connection: connection.initial,
    conversation: EMPTY_CONVERSATION,
    transcription: transcription.initial,
    response: response.initial,
  };
}

const SHUTTING_DOWN: Refusal = {
  code: 'internal_error',
  message:
    'The server is shutting down and begins nothing new; connect again. This also answers a response.create.',
  param: null,
};
/** Characters of JSON: 16 pairs of 64 and 512, as elsewhere at OpenAI. */
const MAX_METADATA = 16 * 1024;
const BAD_METADATA = invalidEvent(
  `response.create refused: 'response.metadata' must be an object of at most ${MAX_METADATA} characters of JSON.`,
  'response.metadata',
);
const TOO_MANY_COMMITS = invalidEvent(
  `At most ${transcription.MAX_WAITING} commits may wait to be transcribed; the buffer is kept. Commit again after a completed.`,
);

/** Total: every event is answered, changes something, or is known to change nothing. */
export function next(state: State, event: Event, rules: Rules): Step {
  const step = new Stepping(state, rules);
  step.take(event);
  return { state: step.state, effects: step.effects };
}

/** One step: the state so far and the effects so far. */
class Stepping {
  state: State;
  readonly effects: Effect[] = [];
  readonly #rules: Rules;

  constructor(state: State, rules: Rules) {
    this.state = state;
    this.#rules = rules;
  }

  take(event: Event): void {
    switch (event.kind) {
      case 'opened':
      case 'fault_found':
      case 'socket_closed':
        this.#live(event);
        break;
      case 'drain_ordered':
        this.#live({ kind: 'drain_ordered', busy: isBusy(this.state) });
        break;
      case 'asked':
        this.#asked(event);
        break;
      case 'refused':
        this.#refuse(event.refusal, event.eventId);
        break;
      case 'heard':
        this.#heard(event.event);
        break;
      case 'transcribed':
        this.#transcribe(event.fact);
        break;
      case 'spoken':
        this.#respond(event.fact);
        break;
      default:
        event satisfies never;
    }
  }

  #asked({ ask, voice, freshItemId, freshResponseId }: Event & { kind: 'asked' }): void {
    const eventId = ask.event_id ?? null;
    switch (ask.type) {
      case 'session.update':
        this.#update(ask.session, voice, eventId);
        break;
      case 'input_audio_buffer.commit':
        this.#commit(eventId);
        break;
      case 'input_audio_buffer.clear':
        this.effects.push({ kind: 'clear_input' });
        this.#send({ type: 'input_audio_buffer.cleared' });
        break;
      case 'conversation.item.create':
        this.#createItem(ask, freshItemId);
        break;
      case 'response.create':
        this.#createResponse(ask, freshItemId, freshResponseId);
        break;
      case 'response.cancel':
        this.#respond({
          kind: 'cancel_asked',
          eventId,
          responseId: ask.response_id ?? undefined,
        });
        break;
      case 'conversation.item.retrieve':
        this.#withItem(ask.item_id, eventId, 'retrieved', (item) =>
          this.#send({ type: 'conversation.item.retrieved', item }),
        );
        break;
      case 'conversation.item.truncate': {
        const { item_id, audio_end_ms } = ask;
        this.#withItem(item_id, eventId, 'truncated', () =>
          this.#send({ type: 'conversation.item.truncated', item_id, content_index: 0, audio_end_ms }),
        );
        break;
      }
      case 'conversation.item.delete':
      case 'output_audio_buffer.clear':
        this.#refuse(unsupportedFeature(`'${ask.type}' is not supported.`, 'type'), eventId);
        break;
      default:
        ask satisfies never;
    }
  }

  #update(update: unknown, voice: VoiceAnswer | undefined, eventId: string | null): void {
    const { session, refusals, asksForGa } = mergeSession(this.state.session, update, this.#rules, voice);
    const { connection: life, dialectFixed, session: before } = this.state;
    const choosesGa = asksForGa && !dialectFixed && life.kind === 'created';
    this.state = { ...this.state, session, dialect: choosesGa ? 'ga' : this.state.dialect };
    for (const refusal of refusals) this.#refuse(refusal, eventId);
    if (session.inputFormat !== before.inputFormat || session.turnDetection !== before.turnDetection) {
      this.effects.push({
        kind: 'configure_input',
        format: session.inputFormat,
        detection: session.turnDetection,
      });
    }
    this.#live({ kind: 'update_merged' });
  }

  #commit(eventId: string | null): void {
    if (!connection.acceptsWork(this.state.connection)) {
      this.#refuse(SHUTTING_DOWN, eventId);
      return;
    }
    if (!transcription.mayCommit(this.state.transcription)) {
      this.#refuse(TOO_MANY_COMMITS, eventId);
      return;
    }
    this.effects.push({ kind: 'commit_input', eventId });
  }

  #createItem(ask: ClientAsk & { type: 'conversation.item.create' }, freshId: Id<'item'>): void {
    const placed = createItem(this.state.conversation, {
      item: ask.item,
      previousItemId: ask.previous_item_id,
      freshId,
      maxTextCharacters: this.#rules.maxTextCharacters,
      isReserved: (id) => isBeingMade(this.state, id),
    });
    if ('refusal' in placed) {
      this.#refuse(placed.refusal, ask.event_id ?? null);
      return;
    }
    this.state = { ...this.state, conversation: placed.conversation };
    this.#send({
      type: 'conversation.item.created',
      previous_item_id: placed.previousItemId,
      item: placed.item,
    });
  }

  #createResponse(
    ask: ClientAsk & { type: 'response.create' },
    itemId: Id<'item'>,
    responseId: Id<'response'>,
  ): void {
    const { session, conversation, conversationId } = this.state;
    const eventId = ask.event_id ?? null;
    if (!connection.acceptsWork(this.state.connection)) {
      this.#refuse(SHUTTING_DOWN, eventId);
      return;
    }
    const metadata = ask.response?.metadata ?? null;
    if (!isMetadata(metadata)) {
      this.#refuse(BAD_METADATA, eventId);
      return;
    }
    this.#respond({
      kind: 'create_asked',
      eventId,
      responseId,
      itemId,
      previousItemId: conversation.items.at(-1)?.id ?? null,
      look: {
        conversationId,
        format: sessionOnWire(session).audio.output.format,
        voice: session.voice,
        metadata,
      },
      text: latestUserText(conversation),
      canSpeak: session.outputModalities.includes('audio'),
    });
  }

  /** Clients of the GA protocol ask for what they were told before, and break without it (openai-wire, T8). */
  #withItem(itemId: string, eventId: string | null, verb: string, answer: (item: WireItem) => void): void {
    const item = findItem(this.state.conversation, itemId);
    if (this.state.dialect === 'spec') {
      this.#refuse(unsupportedFeature(`Items cannot be ${verb}.`, 'type'), eventId);
    } else if (item === undefined) {
      this.#refuse(invalidEvent("'item_id' must be the id of one of the last 64 items.", 'item_id'), eventId);
    } else answer(item);
  }

  #heard(event: SegmenterEvent): void {
    switch (event.kind) {
      case 'speech_started': {
        const { turn, audioStartMs } = event;
        this.effects.push({ kind: 'keep', turn, session: this.state.session });
        this.#send({
          type: 'input_audio_buffer.speech_started',
          item_id: turn.itemId,
          audio_start_ms: audioStartMs,
        });
        this.#transcribe({ kind: 'turn_opened', itemId: turn.itemId });
        break;
      }
      case 'speech_stopped':
        this.#send({
          type: 'input_audio_buffer.speech_stopped',
          item_id: event.itemId,
          audio_end_ms: event.audioEndMs,
        });
        break;
      case 'committed':
        this.#committed(event.turn);
        break;
      case 'dropped':
        this.#transcribe({ kind: 'turn_dropped', itemId: event.itemId });
        break;
      case 'detector_failed':
        this.#refuse(DETECTOR_FAILED, null);
        break;
      default:
        event satisfies never;
    }
  }

  #committed(turn: Turn): void {
    const placed = addAudioItem(this.state.conversation, turn.itemId);
    const { item, previousItemId: previous_item_id } = placed;
    this.state = { ...this.state, conversation: placed.conversation };
    // A turn that began with its speech is kept already, as it was to be understood then.
    this.effects.push({ kind: 'keep', turn, session: this.state.session });
    this.#send({ type: 'input_audio_buffer.committed', item_id: turn.itemId, previous_item_id });
    this.#send({ type: 'conversation.item.added', previous_item_id, item });
    this.#send({ type: 'conversation.item.done', previous_item_id, item });
    this.#transcribe({ kind: 'turn_committed', itemId: turn.itemId });
  }

  #transcribe(event: transcription.Event): void {
    const { state, effects } = transcription.next(this.state.transcription, event);
    this.state = { ...this.state, transcription: state };
    for (const effect of effects) {
      if (effect.kind === 'send') this.#send(effect.event);
      else this.effects.push({ kind: 'transcription', effect });
    }
    this.#endWork();
  }

  #respond(event: response.Event): void {
    const { session } = this.state;
    const { state, effects } = response.next(this.state.response, event);
    this.state = { ...this.state, response: state };
    for (const effect of effects) {
      if (effect.kind === 'send') this.#send(effect.event);
      else if (effect.kind === 'stop') {
        this.effects.push({ kind: 'stop_response', responseId: effect.responseId });
      } else this.effects.push({ ...effect, session });
    }
    this.#endWork();
  }

  #live(event: connection.Event): void {
    const { state, effects } = connection.next(this.state.connection, event);
    this.state = { ...this.state, connection: state };
    for (const effect of effects) {
      switch (effect.kind) {
        case 'greet':
          this.#send({ type: 'session.created', session: sessionOnWire(this.state.session) });
          break;
        case 'acknowledge':
          this.#send({ type: 'session.updated', session: sessionOnWire(this.state.session) });
          break;
        case 'release':
          this.#transcribe({ kind: 'closed' });
          this.#respond({ kind: 'closed' });
          this.effects.push(effect);
          break;
        case 'deafen':
        case 'close':
          this.effects.push(effect);
          break;
        default:
          effect satisfies never;
      }
    }
  }

  /** A connection that drains closes with the end of its last work. */
  #endWork(): void {
    if (this.state.connection.kind === 'draining' && !isBusy(this.state)) this.#live({ kind: 'work_ended' });
  }

  #refuse(refusal: Refusal, eventId: string | null): void {
    this.#send(errorEvent(refusal, eventId));
  }

  #send(event: ServerEvent): void {
    this.state = { ...this.state, conversation: remembered(this.state.conversation, event) };
    for (const wire of inDialect(event, this.state.dialect)) this.effects.push({ kind: 'send', event: wire });
  }
}

const DETECTOR_FAILED: Refusal = {
  code: 'internal_error',
  message: 'Voice activity detection failed and begins anew with the next audio.',
  param: null,
};

/** Whether an item is not in the conversation yet, or was pushed out of it, while it is worked on. */
function isBeingMade({ transcription: turns, response: speech }: State, itemId: string): boolean {
  if (transcription.knows(turns, itemId)) return true;
  return speech.kind === 'speaking' && speech.response.itemId === itemId;
}

/** Whether something runs whose end the client waits for. */
function isBusy({ transcription: turns, response: speech }: State): boolean {
  return transcription.isBusy(turns) || speech.kind === 'speaking';
}

/** What the conversation knows after an event was sent. */
function remembered(conversation: Conversation, event: ServerEvent): Conversation {
  switch (event.type) {
    case 'response.output_item.added':
      return addAssistantItem(conversation, event.item).conversation;
    case 'response.output_item.done':
      return withItem(conversation, event.item);
    case 'conversation.item.input_audio_transcription.completed':
      return withTranscript(conversation, event.item_id, event.transcript);
    default:
      return conversation;
  }
}

/** What a client may have echoed with its response. */
function isMetadata(value: unknown): value is Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && !Array.isArray(value) && JSON.stringify(value).length <= MAX_METADATA;
}
