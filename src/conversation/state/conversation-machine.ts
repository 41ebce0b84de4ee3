/**
 * State machine of a conversation: commands of the client and events of the pipeline in, events and effects out. Pure. The table
 * is docs/states/conversation.md. Audio passes through it as opaque bytes.
 */

import type { Id } from '../../contract/core/id.ts';
import type { TextToken, TranscriptDelta } from '../../contract/engines/engine.ts';
import { wireLogprobs } from '../../listen/logprobs.ts';
import { type ConversationError, errorEvent, invalidRequestError } from '../events/errors.ts';
import type { ConversationEvent, ErrorBody, TranscriptionUsage } from '../events/server-events.ts';
import {
  audioItem,
  type FunctionCallItem,
  type Item,
  type TimedWord,
  withTranscript,
} from '../items/item.ts';
import {
  findCall,
  findItem,
  type ItemList,
  insertItem,
  removeItem,
  replaceItem,
} from '../items/item-list.ts';
import { playedTranscript } from '../items/played-words.ts';
import type { ConversationSettings } from '../settings.ts';
import { type NextPrompt, type ReplyRequest, replyRequest } from './reply-request.ts';
import * as response from './response.ts';

/** Maximum number of responses outside the conversation. */
export const MAX_OUT_OF_BAND = 4;
/** Maximum number of committed turns whose transcription is not finished. */
export const MAX_PENDING_TURNS = 16;
/** The idle timeout fires at most this many times in a row. */
export const MAX_IDLE_TIMEOUTS = 2;
/** Number of spoken items whose word times are kept. Clients truncate only the last ones. */
const MAX_SPOKEN_ITEMS = 8;

/** Audio of an assistant item, which the client may truncate. */
interface SpokenAudio {
  readonly words: readonly TimedWord[];
  readonly audioMs: number;
  /** Time at which the client truncated the audio. */
  readonly truncatedMs: number | undefined;
}

/** A turn whose transcript is pending. */
interface PendingTurn {
  readonly itemId: Id<'item_'>;
  /** Whether its transcript is answered automatically. */
  readonly isAnswered: boolean;
}

export interface State {
  readonly life: 'open' | 'draining' | 'closing' | 'closed';
  readonly conversationId: Id<'conv_'>;
  readonly settings: ConversationSettings;
  readonly items: ItemList;
  /** Audio of the last assistant items by item id, oldest first. */
  readonly spoken: ReadonlyMap<string, SpokenAudio>;
  /** Item id of the turn in which the user is speaking. */
  readonly speaking: Id<'item_'> | undefined;
  readonly turns: readonly PendingTurn[];
  /** At most one of them belongs to the conversation. */
  readonly responses: readonly response.ResponseState[];
  /** Whether committed turns wait for an automatic response. */
  readonly owesResponse: boolean;
  /** Number of idle timeouts since the user last spoke. */
  readonly idleTimeouts: number;
  /** Error after which the session ends when its response is finished. */
  readonly fatalError: ConversationError | undefined;
}

export type Command =
  | { readonly kind: 'update_settings'; readonly settings: ConversationSettings }
  | { readonly kind: 'commit' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'create_item'; readonly item: Item; readonly previousItemId: string | undefined }
  | { readonly kind: 'delete_item'; readonly itemId: string }
  | { readonly kind: 'retrieve_item'; readonly itemId: string }
  | { readonly kind: 'truncate_item'; readonly itemId: string; readonly audioEndMs: number }
  | {
      readonly kind: 'create_response';
      readonly params: Omit<response.ResponseParams, 'input'>;
      /** Items, or references to items of the conversation; undefined: the conversation. */
      readonly input: readonly (Item | { readonly reference: string })[] | undefined;
    }
  /** @property responseId undefined: the response of the conversation. */
  | { readonly kind: 'cancel_response'; readonly responseId: string | undefined };

/** Events of a reply. */
export type ReplyEvent =
  /** The message starts. */
  | { readonly kind: 'message_started'; readonly itemId: Id<'item_'> }
  | { readonly kind: 'text'; readonly delta: string }
  /** The words of a clause are about to be played. @property startMs in the audio of the item. */
  | { readonly kind: 'clause'; readonly words: readonly TimedWord[]; readonly startMs: number }
  /** The times of the last words are known better. */
  | { readonly kind: 'retimed'; readonly words: readonly TimedWord[] }
  | { readonly kind: 'audio'; readonly audio: Uint8Array; readonly lengthMs: number }
  /** A complete and valid function call. */
  | {
      readonly kind: 'call';
      readonly itemId: Id<'item_'>;
      readonly callId: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly kind: 'ended';
      readonly end: 'completed' | 'max_output_tokens' | 'content_filter';
      readonly usage: response.ReplyUsage;
    }
  /** @property isFatal whether no further reply can succeed. */
  | { readonly kind: 'failed'; readonly error: ErrorBody; readonly isFatal: boolean };

export type Event =
  | { readonly kind: 'command'; readonly command: Command; readonly eventId: string | null }
  /** A client event was rejected before it became a command. */
  | { readonly kind: 'rejected'; readonly error: ConversationError; readonly eventId: string | null }
  /** @property unplayedMs estimated audio of the assistant that the client has not played. */
  | {
      readonly kind: 'speech_started';
      readonly itemId: Id<'item_'>;
      readonly audioStartMs: number;
      readonly unplayedMs: number;
    }
  | { readonly kind: 'speech_stopped'; readonly itemId: Id<'item_'>; readonly audioEndMs: number }
  /** @property isDetected whether the end of the turn was detected, not commanded. */
  | { readonly kind: 'turn_committed'; readonly itemId: Id<'item_'>; readonly isDetected: boolean }
  | { readonly kind: 'turn_dropped'; readonly itemId: Id<'item_'> }
  | { readonly kind: 'detector_failed'; readonly error: ErrorBody }
  | ({ readonly kind: 'transcript_delta'; readonly itemId: Id<'item_'> } & TranscriptDelta)
  | {
      readonly kind: 'transcript_completed';
      readonly itemId: Id<'item_'>;
      readonly transcript: string;
      readonly textTokens?: readonly TextToken[] | undefined;
      readonly usage: TranscriptionUsage;
    }
  | {
      readonly kind: 'transcript_failed';
      readonly itemId: Id<'item_'>;
      readonly error: ErrorBody;
      readonly isFatal: boolean;
    }
  | { readonly kind: 'reply'; readonly responseId: Id<'resp_'>; readonly event: ReplyEvent }
  | {
      readonly kind: 'idle_elapsed';
      readonly itemId: Id<'item_'>;
      readonly audioStartMs: number;
      readonly audioEndMs: number;
    }
  | { readonly kind: 'expired' }
  | { readonly kind: 'drain_requested' }
  | { readonly kind: 'error_occurred' }
  | { readonly kind: 'transport_closed' };

export type CloseReason = 'shutting_down' | 'internal_error' | 'expired' | 'insufficient_quota';

export type Effect =
  | { readonly kind: 'emit'; readonly event: ConversationEvent }
  | {
      readonly kind: 'emit_audio';
      readonly responseId: Id<'resp_'>;
      readonly itemId: Id<'item_'>;
      readonly outputIndex: number;
      readonly audio: Uint8Array;
    }
  | { readonly kind: 'configure_input'; readonly settings: ConversationSettings }
  | { readonly kind: 'commit_input'; readonly eventId: string | null }
  | { readonly kind: 'clear_input' }
  | { readonly kind: 'stop_input' }
  /** Transcribe and bill a committed turn. */
  | { readonly kind: 'transcribe'; readonly itemId: Id<'item_'> }
  | { readonly kind: 'start_reply'; readonly responseId: Id<'resp_'>; readonly request: ReplyRequest }
  | { readonly kind: 'stop_reply'; readonly responseId: Id<'resp_'> }
  /** The client stops the playback of the assistant's audio. */
  | { readonly kind: 'stop_playback' }
  /** Start the idle timer when the audio that the client has received is played. */
  | { readonly kind: 'start_idle_timer'; readonly timeoutMs: number }
  | { readonly kind: 'stop_idle_timer' }
  | { readonly kind: 'close'; readonly reason: CloseReason }
  | { readonly kind: 'release' };

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** Configuration and values that a transition may use. */
export interface Context {
  /** Id of a response that this event may create. */
  readonly freshResponseId: Id<'resp_'>;
  /** Maximum tokens of a prompt, which leaves room for the response; undefined if the model does not tell its context. */
  readonly maxPromptTokens: number | undefined;
  /** Parameters of an automatic response. */
  automaticParams(settings: ConversationSettings): Omit<response.ResponseParams, 'input'>;
}

export function initial(conversationId: Id<'conv_'>, settings: ConversationSettings): State {
  return {
    life: 'open',
    conversationId,
    settings,
    items: [],
    spoken: new Map(),
    speaking: undefined,
    turns: [],
    responses: [],
    owesResponse: false,
    idleTimeouts: 0,
    fatalError: undefined,
  };
}

/** Total: every event is handled. While the session is open or draining, every command has an event or an effect. */
export function next(state: State, event: Event, context: Context): Step {
  const transition = new Transition(state, context);
  transition.apply(event);
  return { state: transition.state, effects: transition.effects };
}

/**
 * The request of the automatic response to a turn, if the turn ends now with a transcript; undefined if no response would
 * start. The reply can then be prepared before the turn ends.
 */
export function expectedRequest(
  state: State,
  itemId: Id<'item_'>,
  transcript: string,
  context: Context,
): ReplyRequest | undefined {
  const committed = next(state, { kind: 'turn_committed', itemId, isDetected: true }, context);
  const usage: TranscriptionUsage = {
    type: 'tokens',
    total_tokens: 0,
    input_tokens: 0,
    output_tokens: 0,
    input_token_details: { text_tokens: 0, audio_tokens: 0 },
  };
  const { effects } = next(
    committed.state,
    { kind: 'transcript_completed', itemId, transcript, usage },
    context,
  );
  return effects.find((effect) => effect.kind === 'start_reply')?.request;
}

/**
 * What the prompt of the next automatic response starts with. Undefined if that is not known, because a response is in progress, or
 * if it does not fit into the context.
 */
export function promptStart(
  { settings, items, responses }: State,
  { maxPromptTokens }: Context,
): NextPrompt | undefined {
  if (responses.length > 0) return undefined;
  const request = replyRequest({ settings }, items, settings.truncation, maxPromptTokens);
  if (request.kind !== 'generate') return undefined;
  return { messages: request.messages, tools: settings.toolChoice === 'none' ? [] : settings.tools };
}

const SHUTTING_DOWN: ConversationError = {
  type: 'server_error',
  code: 'server_shutting_down',
  param: null,
  message:
    'The server is shutting down and accepts no new work; connect again. A response.create is also rejected with this error.',
};

class Transition {
  state: State;
  readonly effects: Effect[] = [];
  readonly #context: Context;

  constructor(state: State, context: Context) {
    this.state = state;
    this.#context = context;
  }

  apply(event: Event): void {
    const { life } = this.state;
    // The transport is closed or closing: nothing more is sent.
    if (life === 'closed' || (life === 'closing' && event.kind !== 'transport_closed')) return;
    switch (event.kind) {
      case 'command':
        this.#command(event.command, event.eventId);
        break;
      case 'rejected':
        this.#reject(event.error, event.eventId);
        break;
      case 'speech_started':
        this.#startSpeech(event);
        break;
      case 'speech_stopped':
        this.#emit({
          type: 'input_audio_buffer.speech_stopped',
          item_id: event.itemId,
          audio_end_ms: event.audioEndMs,
        });
        break;
      case 'turn_committed':
        this.#commitTurn(event.itemId, event.isDetected);
        break;
      case 'turn_dropped':
        if (this.state.speaking === event.itemId) this.#set({ speaking: undefined });
        this.#advance();
        break;
      case 'detector_failed':
        this.#reject({ ...event.error, param: null }, null);
        break;
      case 'transcript_delta':
        this.#addTranscript(event.itemId, event);
        break;
      case 'transcript_completed':
        this.#completeTranscript(event);
        break;
      case 'transcript_failed':
        this.#failTranscript(event);
        break;
      case 'reply':
        this.#reply(event.responseId, event.event);
        break;
      case 'idle_elapsed':
        this.#idle(event);
        break;
      case 'expired':
        this.#expire();
        break;
      case 'drain_requested':
        this.#drain();
        break;
      case 'error_occurred':
        this.#close('internal_error');
        break;
      case 'transport_closed':
        this.#set({ life: 'closed' });
        this.effects.push({ kind: 'release' });
        break;
      default:
        event satisfies never;
    }
  }

  // Commands of the client.

  #command(command: Command, eventId: string | null): void {
    switch (command.kind) {
      case 'update_settings':
        this.#updateSettings(command.settings);
        break;
      case 'commit':
        this.#commit(eventId);
        break;
      case 'clear':
        this.effects.push({ kind: 'clear_input' });
        this.#emit({ type: 'input_audio_buffer.cleared' });
        break;
      case 'create_item':
        this.#createItem(command.item, command.previousItemId, eventId);
        break;
      case 'delete_item':
        this.#deleteItem(command.itemId, eventId);
        break;
      case 'retrieve_item': {
        const item = findItem(this.state.items, command.itemId);
        if (item === undefined)
          this.#reject(unknownItem('item_retrieve_invalid_item_id', 'retrieving', command.itemId), eventId);
        else this.#emit({ type: 'conversation.item.retrieved', item });
        break;
      }
      case 'truncate_item':
        this.#truncate(command.itemId, command.audioEndMs, eventId);
        break;
      case 'create_response':
        this.#createResponse(command, eventId);
        break;
      case 'cancel_response':
        this.#cancelResponse(command.responseId, eventId);
        break;
      default:
        command satisfies never;
    }
  }

  #updateSettings(settings: ConversationSettings): void {
    const { inputFormat, turnDetection } = this.state.settings;
    const isOtherInput = settings.inputFormat !== inputFormat || settings.turnDetection !== turnDetection;
    this.#set({ settings });
    if (isOtherInput) this.effects.push({ kind: 'configure_input', settings });
  }

  #commit(eventId: string | null): void {
    if (this.state.life !== 'open') this.#reject(SHUTTING_DOWN, eventId);
    else if (this.state.turns.length >= MAX_PENDING_TURNS) this.#reject(TOO_MANY_TURNS, eventId);
    else this.effects.push({ kind: 'commit_input', eventId });
  }

  #createItem(item: Item, previousItemId: string | undefined, eventId: string | null): void {
    const { items } = this.state;
    if (this.#isUsed(item.id)) {
      this.#reject(duplicateItem(item.id), eventId);
      return;
    }
    if (item.type === 'function_call_output' && findCall(items, item.call_id) === undefined) {
      this.#reject(unknownCall(item.call_id), eventId);
      return;
    }
    const insertion = insertItem(items, item, previousItemId);
    if (insertion === undefined) {
      this.#reject(unknownPrevious(previousItemId ?? ''), eventId);
      return;
    }
    this.#set({ items: insertion.items });
    const event = { previous_item_id: insertion.previousItemId, item };
    this.#emit({ type: 'conversation.item.added', ...event });
    this.#emit({ type: 'conversation.item.done', ...event });
    this.effects.push({ kind: 'stop_idle_timer' });
  }

  #deleteItem(itemId: string, eventId: string | null): void {
    if (findItem(this.state.items, itemId) === undefined) {
      this.#reject(unknownItem('item_delete_invalid_item_id', 'deleting', itemId), eventId);
      return;
    }
    this.#set({ items: removeItem(this.state.items, itemId) });
    this.#emit({ type: 'conversation.item.deleted', item_id: itemId });
  }

  #truncate(itemId: string, audioEndMs: number, eventId: string | null): void {
    const item = findItem(this.state.items, itemId);
    if (item === undefined || item.type !== 'message' || item.role !== 'assistant') {
      this.#reject(unknownItem('item_truncate_invalid_item_id', 'truncating', itemId), eventId);
      return;
    }
    const running = this.#messageOf(itemId);
    const spoken = running?.output ?? this.state.spoken.get(itemId);
    // Clients may round up.
    const audioMs = Math.ceil(spoken?.audioMs ?? 0);
    if (spoken !== undefined && audioEndMs > audioMs) {
      this.#reject(beyondAudio(audioMs, audioEndMs), eventId);
      return;
    }
    // Truncated audio stays truncated.
    const truncatedMs = Math.min(audioEndMs, spoken?.truncatedMs ?? audioEndMs);
    if (running !== undefined) {
      this.#replaceOutput(running.response, running.index, { ...running.output, truncatedMs });
    } else if (spoken !== undefined) {
      const truncated = { ...spoken, truncatedMs };
      this.#limitTranscript(itemId, truncated, truncatedMs);
      this.#set({ spoken: new Map(this.state.spoken).set(itemId, truncated) });
    }
    this.effects.push({ kind: 'stop_playback' });
    this.#emit({
      type: 'conversation.item.truncated',
      item_id: itemId,
      content_index: 0,
      audio_end_ms: audioEndMs,
    });
  }

  #createResponse({ params, input }: Command & { kind: 'create_response' }, eventId: string | null): void {
    if (this.state.life !== 'open') {
      this.#reject(SHUTTING_DOWN, eventId);
      return;
    }
    const running = this.#mainResponse();
    if (!params.isOutOfBand && running !== undefined) {
      this.#reject(alreadyActive(running.id), eventId);
      return;
    }
    if (
      params.isOutOfBand &&
      this.state.responses.filter((each) => each.isOutOfBand).length >= MAX_OUT_OF_BAND
    ) {
      this.#reject(TOO_MANY_RESPONSES, eventId);
      return;
    }
    const items: Item[] = [];
    for (const entry of input ?? []) {
      const item = 'reference' in entry ? findItem(this.state.items, entry.reference) : entry;
      if (item === undefined) {
        this.#reject(unknownReference('reference' in entry ? entry.reference : ''), eventId);
        return;
      }
      items.push(item);
    }
    this.#startResponse({ ...params, input: input === undefined ? undefined : items });
  }

  #cancelResponse(responseId: string | undefined, eventId: string | null): void {
    const found =
      responseId === undefined
        ? this.#mainResponse()
        : this.state.responses.find(({ id }) => id === responseId);
    if (found === undefined) this.#reject(NOTHING_TO_CANCEL, eventId);
    else this.#end(found, { status: 'cancelled', reason: 'client_cancelled' });
  }

  // Turns of the user.

  #startSpeech({ itemId, audioStartMs, unplayedMs }: Event & { kind: 'speech_started' }): void {
    this.#set({ speaking: itemId, idleTimeouts: 0 });
    this.effects.push({ kind: 'stop_idle_timer' });
    this.#emit({ type: 'input_audio_buffer.speech_started', item_id: itemId, audio_start_ms: audioStartMs });
    if (!this.state.settings.turnDetection?.interruptResponse) return;
    this.#stopPlayback(unplayedMs);
    const running = this.#mainResponse();
    if (running !== undefined) this.#end(running, { status: 'cancelled', reason: 'turn_detected' });
  }

  /** Removes the words that were not played from the last messages. The client may truncate them more precisely. */
  #stopPlayback(unplayedMs: number): void {
    if (unplayedMs <= 0) return;
    this.effects.push({ kind: 'stop_playback' });
    let restMs = unplayedMs;
    const running = this.#mainResponse();
    const message = running && messageIn(running);
    if (running !== undefined && message !== undefined && message.output.audioMs > 0) {
      const { index, output } = message;
      this.#replaceOutput(running, index, { ...output, playedMs: Math.max(0, output.audioMs - restMs) });
      restMs -= output.audioMs;
    }
    for (const [itemId, spoken] of [...this.state.spoken].reverse()) {
      if (restMs <= 0) return;
      const playedMs = Math.max(0, spoken.audioMs - restMs);
      if (spoken.truncatedMs === undefined) this.#limitTranscript(itemId, spoken, playedMs);
      restMs -= spoken.audioMs;
    }
  }

  /** Limits the transcript of a spoken item to the words that were played. */
  #limitTranscript(itemId: string, { words }: SpokenAudio, playedMs: number): void {
    const item = findItem(this.state.items, itemId);
    if (item?.type !== 'message' || item.role !== 'assistant') return;
    const transcript = playedTranscript(words, playedMs);
    const content = item.content.map((part) =>
      part.type === 'output_audio' ? { ...part, transcript } : part,
    );
    this.#set({ items: replaceItem(this.state.items, { ...item, content }) });
  }

  #commitTurn(itemId: Id<'item_'>, isDetected: boolean): void {
    const item = audioItem(itemId);
    const insertion = insertItem(this.state.items, item);
    const { turnDetection } = this.state.settings;
    const isAnswered = isDetected && turnDetection?.createResponse === true;
    this.#set({
      items: insertion?.items ?? this.state.items,
      turns: [...this.state.turns, { itemId, isAnswered }],
      ...(this.state.speaking === itemId && { speaking: undefined }),
      idleTimeouts: 0,
    });
    const previous_item_id = insertion?.previousItemId ?? null;
    this.#emit({ type: 'input_audio_buffer.committed', item_id: itemId, previous_item_id });
    this.#emit({ type: 'conversation.item.added', previous_item_id, item });
    this.#emit({ type: 'conversation.item.done', previous_item_id, item });
    this.effects.push({ kind: 'stop_idle_timer' }, { kind: 'transcribe', itemId });
  }

  #addTranscript(itemId: Id<'item_'>, { text, tokens }: TranscriptDelta): void {
    if (text === '' || !this.#isPending(itemId)) return;
    this.#emit({
      type: 'conversation.item.input_audio_transcription.delta',
      item_id: itemId,
      content_index: 0,
      delta: text,
      logprobs: wireLogprobs(tokens) ?? null,
    });
  }

  #completeTranscript({
    itemId,
    transcript,
    textTokens,
    usage,
  }: Event & { kind: 'transcript_completed' }): void {
    if (!this.#isPending(itemId)) return;
    const item = findItem(this.state.items, itemId);
    if (item?.type === 'message' && item.role === 'user') {
      this.#set({ items: replaceItem(this.state.items, withTranscript(item, transcript)) });
    }
    this.#emit({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: itemId,
      content_index: 0,
      transcript,
      usage,
      logprobs: wireLogprobs(textTokens) ?? null,
    });
    const turn = this.#finishTurn(itemId);
    // Noise without words is not answered.
    if (turn?.isAnswered && transcript.trim() !== '') this.#set({ owesResponse: true });
    this.#advance();
  }

  #failTranscript({ itemId, error, isFatal }: Event & { kind: 'transcript_failed' }): void {
    if (!this.#isPending(itemId)) return;
    this.#emit({
      type: 'conversation.item.input_audio_transcription.failed',
      item_id: itemId,
      content_index: 0,
      error,
    });
    const turn = this.#finishTurn(itemId);
    if (isFatal) this.#set({ fatalError: { ...error, param: null } });
    // Words of an earlier turn are answered instead.
    if (turn?.isAnswered && !this.state.owesResponse && this.#mayAnswer()) {
      const params = this.#automaticParams();
      this.#startResponse(params, { kind: 'failure', error, settings: params.settings });
    }
    this.#advance();
  }

  /** Engines may report about a turn that is finished. */
  #isPending(itemId: Id<'item_'>): boolean {
    return this.state.turns.some((turn) => turn.itemId === itemId);
  }

  #finishTurn(itemId: Id<'item_'>): PendingTurn | undefined {
    const turn = this.state.turns.find((each) => each.itemId === itemId);
    this.#set({ turns: this.state.turns.filter((each) => each !== turn) });
    return turn;
  }

  /** Starts what waited for the transcripts, for the end of a response, or for the end of the work. */
  #advance(): void {
    const { turns, life, fatalError } = this.state;
    if (turns.length === 0) {
      for (const waiting of this.state.responses.filter(({ phase }) => phase === 'waiting'))
        this.#generate(waiting);
      if (this.state.owesResponse && this.#mayAnswer()) this.#startResponse(this.#automaticParams());
    }
    if (this.#isBusy()) return;
    if (fatalError !== undefined && life === 'open') {
      this.#reject(fatalError, null);
      this.#close('insufficient_quota');
    } else if (life === 'draining') this.#close('shutting_down');
  }

  /** Whether an automatic response may start now. */
  #mayAnswer(): boolean {
    const { life, speaking, fatalError } = this.state;
    const isFree = speaking === undefined && this.#mainResponse() === undefined;
    return isFree && life === 'open' && fatalError === undefined;
  }

  #idle({ itemId, audioStartMs, audioEndMs }: Event & { kind: 'idle_elapsed' }): void {
    const { idleTimeouts, turns } = this.state;
    if (this.#idleTimeoutMs() === undefined || turns.length > 0 || !this.#mayAnswer()) return;
    const item = withTranscript(audioItem(itemId), '');
    const insertion = insertItem(this.state.items, item);
    this.#set({ items: insertion?.items ?? this.state.items, idleTimeouts: idleTimeouts + 1 });
    const previous_item_id = insertion?.previousItemId ?? null;
    this.#emit({
      type: 'input_audio_buffer.timeout_triggered',
      item_id: itemId,
      audio_start_ms: audioStartMs,
      audio_end_ms: audioEndMs,
    });
    this.#emit({ type: 'input_audio_buffer.committed', item_id: itemId, previous_item_id });
    this.#emit({ type: 'conversation.item.added', previous_item_id, item });
    this.#emit({ type: 'conversation.item.done', previous_item_id, item });
    this.#startResponse(this.#automaticParams());
  }

  // Responses.

  #automaticParams(): response.ResponseParams {
    return { ...this.#context.automaticParams(this.state.settings), input: undefined };
  }

  #startResponse(params: response.ResponseParams, failure?: ReplyRequest): void {
    const created: response.ResponseState = {
      ...params,
      id: this.#context.freshResponseId,
      conversationId: params.isOutOfBand ? null : this.state.conversationId,
      phase: 'waiting',
      outputs: [],
    };
    this.#set({ responses: [...this.state.responses, created] });
    this.effects.push({ kind: 'stop_idle_timer' });
    this.#emit(response.createdEvent(created));
    if (failure !== undefined) this.#generate(created, failure);
    else if (this.state.turns.length === 0 || params.input !== undefined) this.#generate(created);
  }

  #generate(waiting: response.ResponseState, failure?: ReplyRequest): void {
    const { settings, items } = this.state;
    const { input, isOutOfBand } = waiting;
    const request =
      failure ?? replyRequest(waiting, input ?? items, settings.truncation, this.#context.maxPromptTokens);
    this.#replaceResponse({ ...waiting, phase: 'generating' });
    // The response answers all turns of the conversation.
    if (!isOutOfBand && input === undefined) this.#set({ owesResponse: false });
    this.effects.push({ kind: 'start_reply', responseId: waiting.id, request });
  }

  #reply(responseId: Id<'resp_'>, event: ReplyEvent): void {
    const active = this.state.responses.find(({ id }) => id === responseId);
    // A stopped reply may report until it notices.
    if (active === undefined) return;
    switch (event.kind) {
      case 'message_started':
        this.#startMessage(active, event.itemId);
        break;
      case 'text':
        this.#addText(active, event.delta);
        break;
      case 'clause':
        this.#addClause(active, event);
        break;
      case 'retimed':
        this.#retimeWords(active, event.words);
        break;
      case 'audio':
        this.#addAudio(active, event);
        break;
      case 'call':
        this.#addCall(active, event);
        break;
      case 'ended': {
        const { end } = event;
        this.#end(
          active,
          end === 'completed' ? { status: end } : { status: 'incomplete', reason: end },
          event.usage,
        );
        break;
      }
      case 'failed':
        if (event.isFatal) this.#set({ fatalError: { ...event.error, param: null } });
        this.#end(active, { status: 'failed', error: event.error });
        break;
      default:
        event satisfies never;
    }
  }

  #startMessage(active: response.ResponseState, itemId: Id<'item_'>): void {
    const output: response.MessageOutput = {
      kind: 'message',
      itemId,
      previousItemId: this.#lastItemId(active),
      text: '',
      words: [],
      audioMs: 0,
      playedMs: undefined,
      truncatedMs: undefined,
    };
    const index = active.outputs.length;
    const started = this.#addOutput(active, output);
    this.#addToConversation(active, response.messageItem(active, output, 'in_progress'));
    for (const event of response.messageStarted(started, index, output)) this.#emit(event);
  }

  #addText(active: response.ResponseState, delta: string): void {
    const message = messageIn(active);
    if (message === undefined || delta === '') return;
    const { index, output } = message;
    this.#replaceOutput(active, index, { ...output, text: output.text + delta });
    this.#emit(response.textDelta(active, index, output.itemId, delta));
  }

  #addClause(active: response.ResponseState, { words, startMs }: ReplyEvent & { kind: 'clause' }): void {
    const message = messageIn(active);
    if (message === undefined) return;
    const { index, output } = message;
    const delta = words.map(({ text }) => text).join('');
    this.#replaceOutput(active, index, {
      ...output,
      text: output.text + delta,
      words: [...output.words, ...words],
    });
    if (delta !== '') this.#emit(response.textDelta(active, index, output.itemId, delta, startMs));
  }

  #retimeWords(active: response.ResponseState, words: readonly TimedWord[]): void {
    const message = messageIn(active);
    if (message === undefined) return;
    const { index, output } = message;
    const earlier = output.words.slice(0, Math.max(0, output.words.length - words.length));
    this.#replaceOutput(active, index, { ...output, words: [...earlier, ...words] });
  }

  #addAudio(active: response.ResponseState, { audio, lengthMs }: ReplyEvent & { kind: 'audio' }): void {
    const message = messageIn(active);
    if (message === undefined || audio.length === 0) return;
    const { index, output } = message;
    this.#replaceOutput(active, index, { ...output, audioMs: output.audioMs + lengthMs });
    const { itemId } = output;
    this.effects.push({ kind: 'emit_audio', responseId: active.id, itemId, outputIndex: index, audio });
  }

  #addCall(active: response.ResponseState, event: ReplyEvent & { kind: 'call' }): void {
    const item: FunctionCallItem = {
      id: event.itemId,
      object: 'realtime.item',
      type: 'function_call',
      status: 'completed',
      name: event.name,
      call_id: event.callId,
      arguments: event.arguments,
    };
    const output = { kind: 'call', item, previousItemId: this.#lastItemId(active) } as const;
    const index = active.outputs.length;
    const extended = this.#addOutput(active, output);
    this.#addToConversation(active, item);
    for (const each of response.callEvents(extended, index, output)) this.#emit(each);
  }

  /** Ends a response, whatever its progress. */
  #end(active: response.ResponseState, end: response.ResponseEnd, usage?: response.ReplyUsage): void {
    const { items } = this.state;
    const events = response.endEvents(active, end, usage, (id) => findItem(items, id) !== undefined);
    this.#set({ responses: this.state.responses.filter(({ id }) => id !== active.id) });
    if (!active.isOutOfBand) this.#retainOutputs(active, end);
    for (const event of events) this.#emit(event);
    if (end.status === 'cancelled') this.effects.push({ kind: 'stop_reply', responseId: active.id });
    if (!active.isOutOfBand) this.#startIdleTimer(end);
    this.#advance();
  }

  /** Completes the messages of a response in the conversation, and keeps the times of their words. */
  #retainOutputs(ended: response.ResponseState, { status }: response.ResponseEnd): void {
    const spoken = new Map(this.state.spoken);
    let { items } = this.state;
    for (const output of ended.outputs) {
      if (output.kind !== 'message') continue;
      const { itemId, words, audioMs, truncatedMs } = output;
      items = replaceItem(
        items,
        response.messageItem(ended, output, status === 'completed' ? status : 'incomplete'),
      );
      if (audioMs > 0) spoken.set(itemId, { words, audioMs, truncatedMs });
    }
    const excess = [...spoken.keys()].slice(0, Math.max(0, spoken.size - MAX_SPOKEN_ITEMS));
    for (const itemId of excess) spoken.delete(itemId);
    this.#set({ items, spoken });
  }

  #startIdleTimer({ status }: response.ResponseEnd): void {
    const { idleTimeouts, turns, owesResponse } = this.state;
    const isIdle = turns.length === 0 && !owesResponse && this.#mayAnswer();
    const timeoutMs = this.#idleTimeoutMs();
    if (status === 'completed' && isIdle && timeoutMs !== undefined && idleTimeouts < MAX_IDLE_TIMEOUTS) {
      this.effects.push({ kind: 'start_idle_timer', timeoutMs });
    }
  }

  #idleTimeoutMs(): number | undefined {
    const { turnDetection } = this.state.settings;
    return turnDetection?.type === 'server_vad' ? turnDetection.idleTimeoutMs : undefined;
  }

  // End of the session.

  #drain(): void {
    if (this.state.life !== 'open') return;
    this.#set({ life: 'draining', owesResponse: false });
    this.effects.push({ kind: 'stop_input' });
    this.#advance();
  }

  #expire(): void {
    this.#reject(invalidRequestError('session_expired', 'Your session hit the maximum duration.'), null);
    this.#close('expired');
  }

  #close(reason: CloseReason): void {
    if (this.state.life === 'open') this.effects.push({ kind: 'stop_input' });
    this.#set({ life: 'closing' });
    this.effects.push({ kind: 'close', reason });
  }

  #isBusy(): boolean {
    return this.state.turns.length + this.state.responses.length > 0;
  }

  // State.

  #mainResponse(): response.ResponseState | undefined {
    return this.state.responses.find(({ isOutOfBand }) => !isOutOfBand);
  }

  /** The message of a running response with this item. */
  #messageOf(itemId: string) {
    for (const each of this.state.responses) {
      const index = each.outputs.findIndex((output) => output.kind === 'message' && output.itemId === itemId);
      const output = each.outputs[index];
      if (output?.kind === 'message') return { response: each, index, output };
    }
    return undefined;
  }

  /** Id of the item that a new item of a response follows. */
  #lastItemId({ isOutOfBand }: response.ResponseState): string | null {
    return isOutOfBand ? null : (this.state.items.at(-1)?.id ?? null);
  }

  /** Whether an item has this id. Events of a turn or a response in progress can follow the deletion of its item. */
  #isUsed(itemId: string): boolean {
    const { items, turns, speaking, responses } = this.state;
    return (
      findItem(items, itemId) !== undefined ||
      speaking === itemId ||
      turns.some((turn) => turn.itemId === itemId) ||
      responses.some(({ outputs }) => outputs.some((output) => response.outputItemId(output) === itemId))
    );
  }

  #addToConversation({ isOutOfBand }: response.ResponseState, item: Item): void {
    if (isOutOfBand) return;
    const insertion = insertItem(this.state.items, item);
    if (insertion !== undefined) this.#set({ items: insertion.items });
  }

  #addOutput(active: response.ResponseState, output: response.Output): response.ResponseState {
    const extended = { ...active, outputs: [...active.outputs, output] };
    this.#replaceResponse(extended);
    return extended;
  }

  #replaceOutput(active: response.ResponseState, index: number, output: response.Output): void {
    this.#replaceResponse({ ...active, outputs: active.outputs.with(index, output) });
  }

  #replaceResponse(changed: response.ResponseState): void {
    this.#set({ responses: this.state.responses.map((each) => (each.id === changed.id ? changed : each)) });
  }

  #set(changes: Partial<State>): void {
    this.state = { ...this.state, ...changes };
  }

  #emit(event: ConversationEvent): void {
    this.effects.push({ kind: 'emit', event });
  }

  #reject(error: ConversationError, eventId: string | null): void {
    this.#emit(errorEvent(error, eventId));
  }
}

/** The message of a response. It has at most one. */
function messageIn(active: response.ResponseState) {
  const index = active.outputs.findIndex(({ kind }) => kind === 'message');
  const output = active.outputs[index];
  return output?.kind === 'message' ? { index, output } : undefined;
}

// Errors with the codes and texts that clients of OpenAI depend on.

const NOTHING_TO_CANCEL = invalidRequestError(
  'response_cancel_not_active',
  'Cancellation failed: no active response found',
);
const TOO_MANY_RESPONSES = invalidRequestError(
  'too_many_responses',
  `response.create rejected: at most ${MAX_OUT_OF_BAND} responses outside the conversation may be in progress.`,
);
const TOO_MANY_TURNS = invalidRequestError(
  'input_audio_buffer_overflow',
  `At most ${MAX_PENDING_TURNS} committed turns may wait for transcription. Retry after the next conversation.item.input_audio_transcription.completed event.`,
);

function alreadyActive(responseId: string): ConversationError {
  return invalidRequestError(
    'conversation_already_has_active_response',
    `response.create rejected: Conversation already has an active response in progress: ${responseId}. Wait until the response is finished before creating a new one.`,
  );
}

function unknownItem(code: string, action: string, itemId: string): ConversationError {
  return invalidRequestError(
    code,
    `Error ${action} item: the item with id '${shortened(itemId)}' does not exist.`,
    'item_id',
  );
}

function duplicateItem(itemId: string): ConversationError {
  return invalidRequestError(
    'item_create_duplicate_item_id',
    `Error adding item: an item with id '${shortened(itemId)}' already exists in the conversation.`,
    'item.id',
  );
}

function unknownCall(callId: string): ConversationError {
  return invalidRequestError(
    'invalid_tool_call_id',
    `Tool call ID '${shortened(callId)}' not found in conversation.`,
    'item.call_id',
  );
}

function unknownPrevious(itemId: string): ConversationError {
  return invalidRequestError(
    'item_create_invalid_previous_item_id',
    `Error adding item: the previous item with id '${shortened(itemId)}' does not exist.`,
    'previous_item_id',
  );
}

function unknownReference(itemId: string): ConversationError {
  return invalidRequestError(
    'item_reference_invalid_item_id',
    `response.create rejected: the item with id '${shortened(itemId)}' does not exist.`,
    'response.input',
  );
}

function beyondAudio(audioMs: number, requestedMs: number): ConversationError {
  return invalidRequestError(
    'invalid_value',
    `Audio content of ${audioMs}ms is already shorter than ${requestedMs}ms`,
    'audio_end_ms',
  );
}

/** Ids come from clients. */
function shortened(id: string): string {
  return id.length <= 64 ? id : `${id.slice(0, 64)}…`;
}
