/** Events of a response, in order and with payloads (spec 6.2, order rule 3; openai-wire 8.5 to 8.7). */

import type { Id } from '../../../src/contract/core/id.ts';
import type { WireError } from '../protocol/errors.ts';
import type {
  ResponseUsage,
  ServerEvent,
  WireAssistantItem,
  WireEndedResponse,
  WireFormat,
} from '../protocol/server-events.ts';

/** Fields of a response that depend on the session at its creation. */
export interface ResponseTemplate {
  readonly conversationId: Id<'conv_'>;
  readonly format: WireFormat;
  /** Id of the stored voice; undefined for the default voice. */
  readonly voice: string | undefined;
  /** Metadata of the `response.create` event, or null. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/** Identity of a response from its creation on. */
export interface ResponseIdentity {
  readonly responseId: Id<'resp_'>;
  /** Id of the assistant item that it creates. */
  readonly itemId: Id<'item_'>;
  /** Id of the preceding item; null for the first item of the conversation. */
  readonly previousItemId: string | null;
  readonly template: ResponseTemplate;
}

/** Token counts of the input text and the output audio. */
export interface ResponseTokens {
  readonly input: number;
  readonly output: number;
}

/** Returns the events of a started response: the response, its item and its part. */
export function startedEvents(response: ResponseIdentity): ServerEvent[] {
  const { itemId, previousItemId } = response;
  const item = { ...itemFields(itemId, 'in_progress'), content: [] };
  return [
    {
      type: 'response.created',
      response: {
        ...responseFields(response),
        status: 'in_progress',
        status_details: null,
        output: [],
        usage: null,
      },
    },
    { type: 'response.output_item.added', ...outputFields(response), item },
    { type: 'conversation.item.added', previous_item_id: previousItemId, item },
    { type: 'response.content_part.added', ...partFields(response), part: { type: 'audio', transcript: '' } },
  ];
}

/** @param base64 audio in the output format. */
export function audioDelta(response: ResponseIdentity, base64: string): ServerEvent {
  return { type: 'response.audio.delta', ...partFields(response), delta: base64 };
}

/** @param sentences the sentences of the text. Joined, they are the transcript. */
export function completedEvents(
  response: ResponseIdentity,
  sentences: readonly string[],
  tokens: ResponseTokens,
): ServerEvent[] {
  const part = partFields(response);
  const transcript = sentences.join('');
  return [
    ...sentences.map((delta) => ({ type: 'response.audio_transcript.delta', ...part, delta }) as const),
    { type: 'response.audio_transcript.done', ...part, transcript },
    ...finishedEvents(response, transcript, {
      status: 'completed',
      status_details: null,
      usage: wireUsage(tokens),
    }),
  ];
}

/** @param sentences the sentences that were started. */
export function cancelledEvents(response: ResponseIdentity, sentences: readonly string[]): ServerEvent[] {
  const status_details = { type: 'cancelled', reason: 'client_cancelled' } as const;
  return finishedEvents(response, sentences.join(''), { status: 'cancelled', status_details, usage: null });
}

/** @param sentences the sentences that were started. */
export function failedEvents(
  response: ResponseIdentity,
  sentences: readonly string[],
  error: WireError,
): ServerEvent[] {
  const status_details = { type: 'failed', error } as const;
  return finishedEvents(response, sentences.join(''), { status: 'failed', status_details, usage: null });
}

/** Fields in which finished responses differ. */
type FinalFields = WireEndedResponse extends infer Response
  ? Response extends WireEndedResponse
    ? Pick<Response, 'status' | 'status_details' | 'usage'>
    : never
  : never;

function finishedEvents(
  response: ResponseIdentity,
  transcript: string,
  finalFields: FinalFields,
): ServerEvent[] {
  const { itemId, previousItemId } = response;
  const part = { type: 'audio', transcript } as const;
  const status = finalFields.status === 'completed' ? 'completed' : 'incomplete';
  const item = { ...itemFields(itemId, status), content: [part] };
  return [
    { type: 'response.audio.done', ...partFields(response) },
    { type: 'response.content_part.done', ...partFields(response), part },
    { type: 'conversation.item.done', previous_item_id: previousItemId, item },
    { type: 'response.output_item.done', ...outputFields(response), item },
    { type: 'response.done', response: { ...responseFields(response), ...finalFields, output: [item] } },
  ];
}

function responseFields({ responseId, template }: ResponseIdentity) {
  const { conversationId, format, voice, metadata } = template;
  return {
    object: 'realtime.response',
    id: responseId,
    conversation_id: conversationId,
    output_modalities: ['audio'],
    max_output_tokens: 'inf',
    audio: { output: { format, ...(voice === undefined ? {} : { voice }) } },
    metadata,
  } as const;
}

function itemFields(id: Id<'item_'>, status: WireAssistantItem['status']) {
  return { id, object: 'realtime.item', type: 'message', status, role: 'assistant' } as const;
}

function outputFields({ responseId }: ResponseIdentity) {
  return { response_id: responseId, output_index: 0 } as const;
}

function partFields({ responseId, itemId }: ResponseIdentity) {
  return { response_id: responseId, item_id: itemId, output_index: 0, content_index: 0 } as const;
}

/** Input is text and output is audio. Every count must be a number (openai-wire 8.7). */
function wireUsage({ input, output }: ResponseTokens): ResponseUsage {
  return {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_token_details: {
      text_tokens: input,
      audio_tokens: 0,
      image_tokens: 0,
      cached_tokens: 0,
      cached_tokens_details: { text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
    },
    output_token_details: { text_tokens: 0, audio_tokens: output },
  };
}
