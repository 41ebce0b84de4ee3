/**
 * Builds the AsyncAPI 3.0 document of conversations on /v1/realtime from the schemas of their events. `bun
 * scripts/asyncapi.ts` writes it to docs/conversations.asyncapi.json.
 */

import {
  EndedResponseSchema,
  StartedResponseSchema,
} from '../../../src/conversation/events/server-events.ts';
import { ItemSchema, OutputItemSchema } from '../../../src/conversation/items/item.ts';
import { channelDocument, type Messages } from '../../../src/http/openapi/channel-document.ts';
import { BETA_NAMES } from '../conversation/beta-events.ts';
import {
  CONVERSATION_CLIENT_EVENT_SCHEMAS,
  type ConversationClientEvent,
} from '../conversation/client-events.ts';
import { CONVERSATION_SERVER_EVENT_SCHEMAS, toBetaSchema } from '../conversation/server-event-schemas.ts';
import { BetaConversationSessionSchema, ConversationSessionSchema } from '../conversation/session-schema.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { ADDRESS, handshake, rows, securitySchemes, withPrefix } from './endpoint.ts';
import { plain, SharedSchemas } from './shared-schemas.ts';

const CLIENT_SUMMARIES: Readonly<Record<ConversationClientEvent['type'], string>> = {
  'session.update':
    'Changes the fields that are sent. Omitted fields keep their values; null sets the default.',
  'input_audio_buffer.append': 'Appends audio of the user, in base64 and the input format.',
  'input_audio_buffer.commit': 'Ends the turn of the user.',
  'input_audio_buffer.clear': 'Removes the audio since the last turn.',
  'conversation.item.create': 'Inserts a message, a function call, or the output of a function call.',
  'conversation.item.delete': 'Removes an item.',
  'conversation.item.retrieve': 'Requests an item.',
  'conversation.item.truncate':
    'Reports how much audio of a message was played. Words that were not played are removed from the transcript.',
  'response.create': 'Creates a response. Fields of `response` replace those of the session once.',
  'response.cancel': 'Cancels the response in progress.',
  'output_audio_buffer.clear': 'Rejected over WebSocket, because the client plays the audio.',
};

/** By the name of the current protocol. */
const SERVER_SUMMARIES: Readonly<Record<string, string>> = {
  'session.created': 'The session. It is the first event.',
  'session.updated': 'The session after a `session.update`.',
  error: 'A client event was rejected, or a part of the service failed. The connection stays open.',
  'input_audio_buffer.speech_started': 'The user started to speak.',
  'input_audio_buffer.speech_stopped': 'The user stopped speaking.',
  'input_audio_buffer.committed': 'The turn of the user ended.',
  'input_audio_buffer.cleared': 'The audio since the last turn was removed.',
  'input_audio_buffer.timeout_triggered':
    'The user did not speak for `idle_timeout_ms` after the last response was played.',
  'conversation.item.added': 'An item was inserted.',
  'conversation.item.done': 'An item is complete.',
  'conversation.item.retrieved': 'The requested item.',
  'conversation.item.truncated': 'Words that were not played were removed.',
  'conversation.item.deleted': 'An item was removed.',
  'conversation.item.input_audio_transcription.delta': 'The next part of the transcript of a turn.',
  'conversation.item.input_audio_transcription.completed': 'The transcript of a turn.',
  'conversation.item.input_audio_transcription.failed': 'A turn could not be transcribed.',
  'response.created': 'A response started.',
  'response.output_item.added': 'An output item started.',
  'response.content_part.added': 'The content of a message started.',
  'response.output_text.delta': 'The next part of a text.',
  'response.output_text.done': 'A text is complete.',
  'response.output_audio_transcript.delta': 'The next words of the transcript. They precede their audio.',
  'response.output_audio_transcript.done': 'A transcript is complete.',
  'response.output_audio.delta': 'The next audio, in base64 and the output format.',
  'response.output_audio.done': 'The audio is complete.',
  'response.function_call_arguments.delta': 'The next part of the arguments of a function call.',
  'response.function_call_arguments.done': 'The arguments of a function call, as JSON.',
  'response.content_part.done': 'The content of a message is complete.',
  'response.output_item.done': 'An output item is complete.',
  'response.done': 'A response ended, with its status, output items and usage.',
};

/** Schemas shared by several messages. */
const SHARED = new SharedSchemas({
  Session: ConversationSessionSchema,
  BetaSession: BetaConversationSessionSchema,
  Item: ItemSchema,
  OutputItem: OutputItemSchema,
  StartedResponse: StartedResponseSchema,
  EndedResponse: EndedResponseSchema,
  BetaItem: toBetaSchema(ItemSchema),
  BetaOutputItem: toBetaSchema(OutputItemSchema),
});

/** Returns the document as a JSON object. */
export function conversationAsyncApiDocument(version: string) {
  const ga = serverMessages('ga');
  return channelDocument({
    info: { title: 'Voice service: conversations', version, description: DESCRIPTION },
    name: 'conversation',
    address: `${ADDRESS}?model=svc-voice`,
    summary: 'Speech to speech: a language model answers the user.',
    handshake: handshake(),
    operations: {
      receiveEvents: {
        action: 'receive',
        summary: 'Client events. They are processed strictly in order.',
        messages: clientMessages(),
      },
      sendEvents: {
        action: 'send',
        summary: 'Server events of the current protocol.',
        messages: ga,
      },
      sendBetaEvents: {
        action: 'send',
        summary: 'Server events of the beta protocol, for clients that select it.',
        messages: withPrefix('beta', serverMessages('spec'), ga),
      },
    },
    schemas: SHARED.definitions(),
    securitySchemes: securitySchemes(),
  });
}

function clientMessages(): Messages {
  const session = optionalFields(plain(ConversationSessionSchema)) as JsonObject;
  const { output_modalities, instructions, tools, tool_choice, max_output_tokens, audio } =
    session.properties as JsonObject;
  const { output } = (audio as JsonObject).properties as JsonObject;
  const overrides = { output_modalities, instructions, tools, tool_choice, max_output_tokens };
  return Object.fromEntries(
    Object.entries(CLIENT_SUMMARIES).map(([name, summary]) => {
      const payload = plain(CONVERSATION_CLIENT_EVENT_SCHEMAS.get(name)) as JsonObject;
      const properties = payload.properties as JsonObject;
      if (name === 'session.update') properties.session = session;
      if (name === 'response.create') {
        const response = (properties.response as { anyOf: JsonObject[] }).anyOf[0] as JsonObject;
        const voice = { type: 'object', properties: { output } };
        response.properties = { ...(response.properties as JsonObject), ...overrides, audio: voice };
      }
      return [name, { name, summary, payload: SHARED.withReferences(payload) }];
    }),
  );
}

function serverMessages(dialect: Dialect): Messages {
  const schemas = CONVERSATION_SERVER_EVENT_SCHEMAS[dialect];
  const names = Object.entries(SERVER_SUMMARIES).map(([gaName, summary]) => ({
    name: dialect === 'ga' ? gaName : (BETA_NAMES[gaName] ?? gaName),
    summary,
  }));
  return Object.fromEntries(
    names
      .filter(({ name }) => schemas.has(name))
      .map(({ name, summary }) => [
        name,
        { name, summary, payload: SHARED.withReferences(plain(schemas.get(name))) },
      ]),
  );
}

type JsonObject = Record<string, unknown>;

/** Clients send the fields that they change. */
function optionalFields(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(optionalFields);
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== 'required' || !Array.isArray(value))
      .map(([key, value]) => [key, optionalFields(value)]),
  );
}

const TURN_ORDER = [
  '`input_audio_buffer.speech_started`',
  '`input_audio_buffer.speech_stopped`',
  '`input_audio_buffer.committed`',
  '`conversation.item.added`',
  '`conversation.item.input_audio_transcription.completed` and `conversation.item.done`',
];
const RESPONSE_ORDER = [
  '`response.created`',
  '`response.output_item.added` and `conversation.item.added`',
  '`response.content_part.added`',
  '`response.output_audio_transcript.delta` and `response.output_audio.delta`, several times',
  '`response.output_audio.done`',
  '`response.output_audio_transcript.done`',
  '`response.content_part.done`',
  '`response.output_item.done` and `conversation.item.done`',
  '`response.done`',
];

const STATUSES: readonly (readonly [status: string, cause: string])[] = [
  ['`completed`', 'The response is complete.'],
  [
    '`cancelled`',
    'The user interrupted it (`turn_detected`), or the client cancelled it (`client_cancelled`).',
  ],
  ['`incomplete`', 'It reached `max_output_tokens`.'],
  ['`failed`', 'A model failed. `status_details.error` has the cause.'],
];

const DESCRIPTION = `A connection with the id of a conversation model (\`svc-voice\`) speaks OpenAI's realtime protocol. The names
of the current protocol are the default of clients that do not select the beta protocol. Guide: [Conversations](conversations).

A turn of the user: ${TURN_ORDER.join(', ')}.

A response: ${RESPONSE_ORDER.join(', ')}. A response with text has \`response.output_text.*\` instead of the audio and its
transcript. A function call has \`response.function_call_arguments.*\` instead of a content part.

| status of a response | cause |
|---|---|
${rows(STATUSES)}
`;
