/**
 * State machine of one connection: client events and engine events in, server events and effects out. Pure.
 * Combines the machines of the connection, the transcriptions and the response with the session and the
 * conversation. Audio does not pass through it.
 */

import type { Id } from '../../../src/contract/core/id.ts';
import type { VadSettings } from '../../../src/contract/engines/engine.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
import type { SegmenterEvent } from '../../../src/listen/turn-segmenter.ts';
import { MAX_METADATA_CHARACTERS, MAX_PENDING_TURNS } from '../limits.ts';
import type { ClientEvent } from '../protocol/client-events.ts';
import { type Dialect, toDialect } from '../protocol/dialect.ts';
import { errorEvent, invalidEvent, type ProtocolError, unsupportedFeature } from '../protocol/errors.ts';
import type { ServerEvent, WireEvent, WireItem } from '../protocol/server-events.ts';
import {
  mergeSession,
  type Session,
  type SessionRules,
  toWireSession,
  type VoiceLookupResult,
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

/** The complete state of a connection. */
export interface State {
  readonly connection: connection.State;
  readonly session: Session;
  readonly dialect: Dialect;
  /** Whether the client selected the dialect when it connected. Otherwise its first update may select it. */
  readonly dialectFixed: boolean;
  readonly conversationId: Id<'conv_'>;
  readonly conversation: Conversation;
  readonly transcription: transcription.State;
  readonly response: response.State;
}

/** Every client event except an append, which is not a command. */
export type ClientCommand = Exclude<ClientEvent, { readonly type: 'input_audio_buffer.append' }>;

export type Event =
  | { readonly kind: 'opened' }
  | {
      readonly kind: 'command_received';
      readonly command: ClientCommand;
      /** Lookup result of the voice that a `session.update` names. */
      readonly voice?: VoiceLookupResult | undefined;
      /** Ids for objects that this event may create. */
      readonly freshItemId: Id<'item_'>;
      readonly freshResponseId: Id<'resp_'>;
    }
  /** A frame was rejected. */
  | { readonly kind: 'frame_rejected'; readonly error: ProtocolError; readonly eventId: string | null }
  | { readonly kind: 'segmented'; readonly event: SegmenterEvent }
  | { readonly kind: 'transcribed'; readonly event: transcription.TranscriptionEvent }
  | { readonly kind: 'synthesized'; readonly event: response.SynthesisEvent }
  | { readonly kind: 'drain_requested' }
  | { readonly kind: 'error_occurred' }
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
  | { readonly kind: 'stop_input' }
  | Exclude<transcription.Effect, { kind: 'send' }>
  | {
      readonly kind: 'synthesize';
      readonly responseId: Id<'resp_'>;
      readonly text: string;
      readonly session: Session;
    }
  | { readonly kind: 'stop_response'; readonly responseId: Id<'resp_'> }
  | { readonly kind: 'close'; readonly reason: 'shutting_down' | 'internal_error' }
  | { readonly kind: 'release' };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** Configuration of the service. */
export interface Rules extends SessionRules {
  /** Maximum length of a synthesized text in Unicode code points. */
  readonly maxTextCharacters: number;
}

export interface InitialState {
  readonly session: Session;
  readonly dialect: Dialect;
  readonly dialectFixed: boolean;
  readonly conversationId: Id<'conv_'>;
}

/** Returns the state of a connection whose upgrade was accepted. */
export function initial(initialState: InitialState): State {
  return {
    ...initialState,
    connection: connection.initial,
    conversation: EMPTY_CONVERSATION,
    transcription: transcription.initial,
    response: response.initial,
  };
}

const SHUTTING_DOWN: ProtocolError = {
  code: 'internal_error',
  message:
    'The server is shutting down and accepts no new work; connect again. A response.create is also rejected with this error.',
  param: null,
};
const BAD_METADATA = invalidEvent(
  `response.create rejected: 'response.metadata' must be an object of at most ${MAX_METADATA_CHARACTERS} characters of JSON.`,
  'response.metadata',
);
const TOO_MANY_COMMITS = invalidEvent(
  `At most ${MAX_PENDING_TURNS} commits may be waiting for transcription; the buffer is kept. Retry after the next conversation.item.input_audio_transcription.completed event.`,
);

/** Total: every event is handled, and every client event is acknowledged or has an effect. */
export function next(state: State, event: Event, rules: Rules): Step {
  const step = new Transition(state, rules);
  step.apply(event);
  return { state: step.state, effects: step.effects };
}

/** Builds one transition: accumulates the state and the effects. */
class Transition {
  state: State;
  readonly effects: Effect[] = [];
  readonly #rules: Rules;

  constructor(state: State, rules: Rules) {
    this.state = state;
    this.#rules = rules;
  }

  apply(event: Event): void {
    switch (event.kind) {
      case 'opened':
      case 'error_occurred':
      case 'socket_closed':
        this.#advanceConnection(event);
        break;
      case 'drain_requested':
        this.#advanceConnection({ kind: 'drain_requested', busy: isBusy(this.state) });
        break;
      case 'command_received':
        this.#handleCommand(event);
        break;
      case 'frame_rejected':
        this.#sendError(event.error, event.eventId);
        break;
      case 'segmented':
        this.#handleSegmenterEvent(event.event);
        break;
      case 'transcribed':
        this.#transcribe(event.event);
        break;
      case 'synthesized':
        this.#respond(event.event);
        break;
      default:
        event satisfies never;
    }
  }

  #handleCommand({
    command,
    voice,
    freshItemId,
    freshResponseId,
  }: Event & { kind: 'command_received' }): void {
    const eventId = command.event_id ?? null;
    switch (command.type) {
      case 'session.update':
        this.#update(command.session, voice, eventId);
        break;
      case 'input_audio_buffer.commit':
        this.#commit(eventId);
        break;
      case 'input_audio_buffer.clear':
        this.effects.push({ kind: 'clear_input' });
        this.#send({ type: 'input_audio_buffer.cleared' });
        break;
      case 'conversation.item.create':
        this.#createItem(command, freshItemId);
        break;
      case 'response.create':
        this.#createResponse(command, freshItemId, freshResponseId);
        break;
      case 'response.cancel':
        this.#respond({
          kind: 'cancel_requested',
          eventId,
          responseId: command.response_id ?? undefined,
        });
        break;
      case 'conversation.item.retrieve':
        this.#withItem(command.item_id, eventId, 'retrieved', (item) =>
          this.#send({ type: 'conversation.item.retrieved', item }),
        );
        break;
      case 'conversation.item.truncate': {
        const { item_id, audio_end_ms } = command;
        this.#withItem(item_id, eventId, 'truncated', () =>
          this.#send({ type: 'conversation.item.truncated', item_id, content_index: 0, audio_end_ms }),
        );
        break;
      }
      case 'conversation.item.delete':
      case 'output_audio_buffer.clear':
        this.#sendError(unsupportedFeature(`'${command.type}' is not supported.`, 'type'), eventId);
        break;
      default:
        command satisfies never;
    }
  }

  #update(update: unknown, voice: VoiceLookupResult | undefined, eventId: string | null): void {
    const { session, errors, requestsGa } = mergeSession(this.state.session, update, this.#rules, voice);
    const { connection: life, dialectFixed, session: before } = this.state;
    const switchesToGa = requestsGa && !dialectFixed && life.kind === 'created';
    this.state = { ...this.state, session, dialect: switchesToGa ? 'ga' : this.state.dialect };
    for (const error of errors) this.#sendError(error, eventId);
    if (session.inputFormat !== before.inputFormat || session.turnDetection !== before.turnDetection) {
      this.effects.push({
        kind: 'configure_input',
        format: session.inputFormat,
        detection: session.turnDetection,
      });
    }
    this.#advanceConnection({ kind: 'update_merged' });
  }

  #commit(eventId: string | null): void {
    if (!connection.acceptsWork(this.state.connection)) {
      this.#sendError(SHUTTING_DOWN, eventId);
      return;
    }
    if (!transcription.canCommit(this.state.transcription)) {
      this.#sendError(TOO_MANY_COMMITS, eventId);
      return;
    }
    this.effects.push({ kind: 'commit_input', eventId });
  }

  #createItem(command: ClientCommand & { type: 'conversation.item.create' }, freshId: Id<'item_'>): void {
    const inserted = createItem(this.state.conversation, {
      item: command.item,
      previousItemId: command.previous_item_id,
      freshId,
      maxTextCharacters: this.#rules.maxTextCharacters,
      isReserved: (id) => isReserved(this.state, id),
    });
    if ('error' in inserted) {
      this.#sendError(inserted.error, command.event_id ?? null);
      return;
    }
    this.state = { ...this.state, conversation: inserted.conversation };
    this.#send({
      type: 'conversation.item.created',
      previous_item_id: inserted.previousItemId,
      item: inserted.item,
    });
  }

  #createResponse(
    command: ClientCommand & { type: 'response.create' },
    itemId: Id<'item_'>,
    responseId: Id<'resp_'>,
  ): void {
    const { session, conversation, conversationId } = this.state;
    const eventId = command.event_id ?? null;
    if (!connection.acceptsWork(this.state.connection)) {
      this.#sendError(SHUTTING_DOWN, eventId);
      return;
    }
    const metadata = command.response?.metadata ?? null;
    if (!isMetadata(metadata)) {
      this.#sendError(BAD_METADATA, eventId);
      return;
    }
    this.#respond({
      kind: 'create_requested',
      eventId,
      responseId,
      itemId,
      previousItemId: conversation.items.at(-1)?.id ?? null,
      template: {
        conversationId,
        format: toWireSession(session).audio.output.format,
        voice: session.voice,
        metadata,
      },
      text: latestUserText(conversation),
      canSpeak: session.outputModalities.includes('audio'),
    });
  }

  /** GA clients request items that they already received, and fail without a response (openai-wire, T8). */
  #withItem(itemId: string, eventId: string | null, verb: string, respond: (item: WireItem) => void): void {
    const item = findItem(this.state.conversation, itemId);
    if (this.state.dialect === 'spec') {
      this.#sendError(unsupportedFeature(`Items cannot be ${verb}.`, 'type'), eventId);
    } else if (item === undefined) {
      this.#sendError(
        invalidEvent("'item_id' must be the id of one of the last 64 items.", 'item_id'),
        eventId,
      );
    } else respond(item);
  }

  #handleSegmenterEvent(event: SegmenterEvent): void {
    switch (event.kind) {
      case 'speech_started': {
        const { turn, audioStartMs } = event;
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
        this.#committed(event.turn.itemId);
        break;
      case 'dropped':
        this.#transcribe({ kind: 'turn_dropped', itemId: event.itemId });
        break;
      case 'detector_failed':
        this.#sendError(DETECTOR_FAILED, null);
        break;
      default:
        event satisfies never;
    }
  }

  #committed(itemId: Id<'item_'>): void {
    const inserted = addAudioItem(this.state.conversation, itemId);
    const { item, previousItemId: previous_item_id } = inserted;
    this.state = { ...this.state, conversation: inserted.conversation };
    this.#send({ type: 'input_audio_buffer.committed', item_id: itemId, previous_item_id });
    this.#send({ type: 'conversation.item.added', previous_item_id, item });
    this.#send({ type: 'conversation.item.done', previous_item_id, item });
    this.#transcribe({ kind: 'turn_committed', itemId });
  }

  #transcribe(event: transcription.Event): void {
    const { state, effects } = transcription.next(this.state.transcription, event);
    this.state = { ...this.state, transcription: state };
    for (const effect of effects) {
      if (effect.kind === 'send') this.#send(effect.event);
      else this.effects.push(effect);
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

  #advanceConnection(event: connection.Event): void {
    const { state, effects } = connection.next(this.state.connection, event);
    this.state = { ...this.state, connection: state };
    for (const effect of effects) {
      switch (effect.kind) {
        case 'send_session_created':
          this.#send({ type: 'session.created', session: toWireSession(this.state.session) });
          break;
        case 'send_session_updated':
          this.#send({ type: 'session.updated', session: toWireSession(this.state.session) });
          break;
        case 'release':
          this.#transcribe({ kind: 'closed' });
          this.#respond({ kind: 'closed' });
          this.effects.push(effect);
          break;
        case 'stop_input':
        case 'close':
          this.effects.push(effect);
          break;
        default:
          effect satisfies never;
      }
    }
  }

  /** A draining connection closes after its last work finished. */
  #endWork(): void {
    if (this.state.connection.kind === 'draining' && !isBusy(this.state))
      this.#advanceConnection({ kind: 'work_finished' });
  }

  #sendError(error: ProtocolError, eventId: string | null): void {
    this.#send(errorEvent(error, eventId));
  }

  #send(event: ServerEvent): void {
    this.state = { ...this.state, conversation: applied(this.state.conversation, event) };
    for (const wire of toDialect(event, this.state.dialect)) this.effects.push({ kind: 'send', event: wire });
  }
}

const DETECTOR_FAILED: ProtocolError = {
  code: 'internal_error',
  message: 'Voice activity detection failed; it restarts with the next audio.',
  param: null,
};

/** Whether an item id belongs to pending work, but not (or no longer) to an item of the conversation. */
function isReserved({ transcription: turns, response: speech }: State, itemId: string): boolean {
  if (transcription.hasTurn(turns, itemId)) return true;
  return speech.kind === 'speaking' && speech.response.itemId === itemId;
}

/** Whether the client waits for a pending transcription or response. */
function isBusy({ transcription: turns, response: speech }: State): boolean {
  return transcription.isBusy(turns) || speech.kind === 'speaking';
}

/** Updates the conversation according to an event that is sent. */
function applied(conversation: Conversation, event: ServerEvent): Conversation {
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

/** Validates the metadata of a response, which is echoed. */
function isMetadata(value: unknown): value is Readonly<Record<string, unknown>> | null {
  return (
    typeof value === 'object' &&
    !Array.isArray(value) &&
    JSON.stringify(value).length <= MAX_METADATA_CHARACTERS
  );
}
