/** A response in progress: its state, and the events that start, continue and end it, in their order. */

import type { Id } from '../../contract/core/id.ts';
import type { TokenUsage } from '../../contract/engines/text.ts';
import type { ConversationEvent, EndedResponse, ErrorBody, ResponseUsage } from '../events/server-events.ts';
import { toWireFormat } from '../events/wire-format.ts';
import type { AssistantItem, FunctionCallItem, ItemStatus, OutputItem, TimedWord } from '../items/item.ts';
import type { ItemList } from '../items/item-list.ts';
import { playedTranscript } from '../items/played-words.ts';
import type { ResponseSettings } from '../settings.ts';

/** What a `response.create` asks for. */
export interface ResponseParams {
  readonly settings: ResponseSettings;
  /** Name of the voice as the client knows it. */
  readonly voiceName: string;
  /** Replaces the conversation as context; undefined: the conversation. */
  readonly input: ItemList | undefined;
  /** Whether the response is not added to the conversation. */
  readonly isOutOfBand: boolean;
  /** Echoed. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

export interface ResponseState extends ResponseParams {
  readonly id: Id<'resp_'>;
  /** Null for a response outside the conversation. */
  readonly conversationId: Id<'conv_'> | null;
  /** `waiting`: a turn is not transcribed yet. */
  readonly phase: 'waiting' | 'generating';
  readonly outputs: readonly Output[];
}

/** An item of a response. Its index is its position. */
export type Output =
  | {
      readonly kind: 'message';
      readonly itemId: Id<'item_'>;
      readonly previousItemId: string | null;
      /** Text or transcript so far. */
      readonly text: string;
      readonly words: readonly TimedWord[];
      /** Length of the audio so far. */
      readonly audioMs: number;
      /** Estimated length of the played audio when the user interrupted it. */
      readonly playedMs: number | undefined;
      /** Time at which the client truncated the audio. */
      readonly truncatedMs: number | undefined;
    }
  | { readonly kind: 'call'; readonly item: FunctionCallItem; readonly previousItemId: string | null };

export function outputItemId(output: Output): string {
  return output.kind === 'message' ? output.itemId : output.item.id;
}

export type MessageOutput = Extract<Output, { kind: 'message' }>;

/** How a response ended. */
export type ResponseEnd =
  | { readonly status: 'completed' }
  | { readonly status: 'cancelled'; readonly reason: 'turn_detected' | 'client_cancelled' }
  | { readonly status: 'incomplete'; readonly reason: 'max_output_tokens' | 'content_filter' }
  | { readonly status: 'failed'; readonly error: ErrorBody };

/** Tokens of a response: those of the language model, and the audio tokens of its speech. */
export interface ReplyUsage {
  readonly text: TokenUsage;
  readonly audioTokens: number;
}

export function createdEvent(response: ResponseState): ConversationEvent {
  return {
    type: 'response.created',
    response: {
      ...responseFields(response),
      status: 'in_progress',
      status_details: null,
      output: [],
      usage: null,
    },
  };
}

/** Events of a new message. The conversation events are those of a response in the conversation. */
export function messageStarted(
  response: ResponseState,
  index: number,
  output: MessageOutput,
): ConversationEvent[] {
  const item = messageItem(response, output, 'in_progress');
  const part = isAudio(response) ? { type: 'audio', transcript: '' } : { type: 'text', text: '' };
  return [
    { type: 'response.output_item.added', ...outputFields(response, index), item },
    ...conversationEvent(response, 'conversation.item.added', output, item),
    {
      type: 'response.content_part.added',
      ...partFields(response, index, output.itemId),
      part: part as Extract<ConversationEvent, { type: 'response.content_part.added' }>['part'],
    },
  ];
}

/** @param startMs time of the delta in the audio of the item, if it is known. */
export function textDelta(
  response: ResponseState,
  index: number,
  itemId: string,
  delta: string,
  startMs?: number,
): ConversationEvent {
  const fields = partFields(response, index, itemId);
  if (!isAudio(response)) return { type: 'response.output_text.delta', ...fields, delta };
  const time = startMs === undefined ? {} : { start_time: startMs / 1000 };
  return { type: 'response.output_audio_transcript.delta', ...fields, delta, ...time };
}

/** All events of a function call. A call is reported only when it is complete, because clients run incomplete ones. */
export function callEvents(
  response: ResponseState,
  index: number,
  output: Extract<Output, { kind: 'call' }>,
): ConversationEvent[] {
  const { item } = output;
  const { id: item_id, call_id, name, arguments: args } = item;
  const started: FunctionCallItem = { ...item, status: 'in_progress', arguments: '' };
  const fields = { ...outputFields(response, index), item_id, call_id };
  return [
    { type: 'response.output_item.added', ...outputFields(response, index), item: started },
    ...conversationEvent(response, 'conversation.item.added', output, started),
    { type: 'response.function_call_arguments.delta', ...fields, delta: args },
    { type: 'response.function_call_arguments.done', ...fields, name, arguments: args },
    ...conversationEvent(response, 'conversation.item.done', output, item),
    { type: 'response.output_item.done', ...outputFields(response, index), item },
  ];
}

/** Events that end a message and the response. */
export function endEvents(
  response: ResponseState,
  end: ResponseEnd,
  usage: ReplyUsage | undefined,
  /** Whether an item is still in the conversation. */
  isInConversation: (itemId: string) => boolean,
): ConversationEvent[] {
  const status = end.status === 'completed' ? 'completed' : 'incomplete';
  const events: ConversationEvent[] = [];
  const items = response.outputs.map((output, index): OutputItem => {
    if (output.kind === 'call') return output.item;
    const item = messageItem(response, output, status);
    const [part] = item.content;
    const fields = partFields(response, index, output.itemId);
    if (part?.type === 'output_audio') {
      const { transcript } = part;
      events.push(
        { type: 'response.output_audio.done', ...fields },
        { type: 'response.output_audio_transcript.done', ...fields, transcript },
        { type: 'response.content_part.done', ...fields, part: { type: 'audio', transcript } },
      );
    } else if (part?.type === 'output_text') {
      const { text } = part;
      events.push(
        { type: 'response.output_text.done', ...fields, text },
        { type: 'response.content_part.done', ...fields, part: { type: 'text', text } },
      );
    }
    if (isInConversation(output.itemId)) {
      events.push(...conversationEvent(response, 'conversation.item.done', output, item));
    }
    events.push({ type: 'response.output_item.done', ...outputFields(response, index), item });
    return item;
  });
  return [
    ...events,
    {
      type: 'response.done',
      response: {
        ...responseFields(response),
        ...endFields(end),
        output: items,
        usage: usage === undefined ? null : wireUsage(usage),
      } as EndedResponse,
    },
  ];
}

/** The item of a message with its text so far. While it is in progress, it has no content. */
export function messageItem(
  response: ResponseState,
  output: MessageOutput,
  status: ItemStatus,
): AssistantItem {
  const { itemId: id, text, words, audioMs, playedMs, truncatedMs } = output;
  // The words of a cancelled reply can be ahead of its audio.
  const endMs = truncatedMs ?? playedMs ?? (status === 'incomplete' ? audioMs : undefined);
  const spoken = endMs === undefined ? text : playedTranscript(words, endMs);
  const part = isAudio(response)
    ? ({ type: 'output_audio', transcript: spoken } as const)
    : ({ type: 'output_text', text } as const);
  return {
    id,
    object: 'realtime.item',
    type: 'message',
    status,
    role: 'assistant',
    content: status === 'in_progress' ? [] : [part],
  };
}

function isAudio({ settings }: ResponseState): boolean {
  return settings.modality === 'audio';
}

function responseFields(response: ResponseState) {
  const { id, conversationId, settings, voiceName, metadata } = response;
  return {
    object: 'realtime.response',
    id,
    conversation_id: conversationId,
    output_modalities: [settings.modality],
    max_output_tokens: settings.maxOutputTokens ?? 'inf',
    audio: { output: { format: toWireFormat(settings.outputFormat), voice: voiceName } },
    metadata,
  } as const;
}

function endFields(end: ResponseEnd) {
  switch (end.status) {
    case 'completed':
      return { status: end.status, status_details: null };
    case 'cancelled':
    case 'incomplete':
      return { status: end.status, status_details: { type: end.status, reason: end.reason } };
    case 'failed':
      return { status: end.status, status_details: { type: end.status, error: end.error } };
  }
}

function outputFields({ id }: ResponseState, index: number) {
  return { response_id: id, output_index: index } as const;
}

function partFields(response: ResponseState, index: number, itemId: string) {
  return { ...outputFields(response, index), item_id: itemId, content_index: 0 } as const;
}

function conversationEvent(
  { isOutOfBand }: ResponseState,
  type: 'conversation.item.added' | 'conversation.item.done',
  { previousItemId }: Output,
  item: OutputItem,
): ConversationEvent[] {
  return isOutOfBand ? [] : [{ type, previous_item_id: previousItemId, item }];
}

function wireUsage({ text, audioTokens }: ReplyUsage): ResponseUsage {
  const output = text.output + audioTokens;
  return {
    total_tokens: text.input + output,
    input_tokens: text.input,
    output_tokens: output,
    input_token_details: {
      text_tokens: text.input,
      audio_tokens: 0,
      image_tokens: 0,
      cached_tokens: text.cached,
      cached_tokens_details: { text_tokens: text.cached, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: text.output, audio_tokens: audioTokens },
  };
}
