/**
 * Builds the AsyncAPI 3.0 document of /v1/realtime from the schemas that validate its frames. `bun
 * scripts/asyncapi.ts` writes it to docs/realtime.asyncapi.json.
 */

import type { TObject } from '@sinclair/typebox';
import { channelDocument, type Messages } from '../../../src/http/openapi/channel-document.ts';
import { MAX_FRAME_BYTES } from '../../../src/http/transport/socket.ts';
import { open } from '../../../src/kit/validation/schemas.ts';
import * as limits from '../limits.ts';
import { CLIENT_EVENT_SCHEMAS, ClientItemSchema } from '../protocol/client-events.ts';
import { type Dialect, toDialect } from '../protocol/dialect.ts';
import { ERROR_TYPES, type RealtimeErrorCode } from '../protocol/error-codes.ts';
import {
  assistantItemSchema,
  endedResponseSchema,
  FormatSchema,
  itemSchema,
  ResponseUsageSchema,
  SessionSchema,
  StartedResponseSchema,
  TranscriptionUsageSchema,
  TurnDetectionSchema,
} from '../protocol/event-schemas.ts';
import { SERVER_EVENT_SCHEMAS } from '../protocol/server-events.ts';
import { ADDRESS, handshake, rows, securitySchemes, withPrefix } from './endpoint.ts';
import { BETA_SESSION_UPDATE_DOC, CLIENT_EVENT_DOCS, SERVER_EVENT_DOCS } from './events.ts';
import { SessionUpdateSchema } from './session-update.ts';
import { plain, SharedSchemas } from './shared-schemas.ts';

/** Causes of each error code (spec 7). */
const ERROR_CODES: Readonly<Record<RealtimeErrorCode, string>> = {
  invalid_request_error:
    'A malformed event, a missing field, a value of the wrong type or out of range, G.711 at a rate other than 8000 Hz, `response.create` without audio in `output_modalities` or without a user text, `response.cancel` without a response in progress.',
  unsupported_feature:
    '`semantic_vad`, `noise_reduction`, inline voice cloning, an unsupported codec, deletion of items.',
  buffer_overflow:
    'An append would exceed the buffer, which is unchanged; or too many events are waiting for a `session.update` that names a voice.',
  response_in_progress: '`response.create` while a response is in progress.',
  upstream_error: 'A transcription or synthesis failed. The connection stays open.',
  internal_error: 'An internal server error.',
};

const rangeText = ({ from, to }: limits.NumberRange) => `${from} to ${to}`;
const { mebibytes } = limits;

const LIMITS: readonly (readonly [what: string, limit: string])[] = [
  ['Audio between commits', mebibytes(limits.MAX_BUFFERED_BYTES)],
  ['Conversation', `the last ${limits.WINDOW_ITEMS} items, each at most ${limits.MAX_ITEM_BYTES} bytes`],
  ['Responses in progress', '1 per connection'],
  [
    'Sample rate of `audio/pcm`',
    `${rangeText(limits.PCM_RATE_HZ)} Hz; \`audio/pcmu\` and \`audio/pcma\` ${limits.G711_RATE_HZ} Hz`,
  ],
  ['`threshold`', rangeText(limits.THRESHOLD)],
  ['`prefix_padding_ms`, `silence_duration_ms`', `${rangeText(limits.VAD_MS)} ms`],
  ['`event_id` of a client event', `${limits.MAX_EVENT_ID_CHARACTERS} characters`],
  ['One frame', mebibytes(MAX_FRAME_BYTES)],
  [
    'One event except an append',
    `${limits.MAX_EVENT_CHARACTERS} characters, ${limits.MAX_DEPTH} levels of nested lists and objects`,
  ],
  ['One event', `${limits.MAX_VALUES} commas and brackets`],
  [
    'Events that wait for the voice lookup of a `session.update`',
    `${limits.MAX_QUEUED_FRAMES}, and ${mebibytes(limits.MAX_QUEUED_CHARACTERS)}`,
  ],
];

/** Schemas shared by several messages, by their names in the document. */
const SHARED = new SharedSchemas({
  Session: SessionSchema,
  SessionUpdate: SessionUpdateSchema,
  Format: FormatSchema,
  TurnDetection: TurnDetectionSchema,
  StartedResponse: StartedResponseSchema,
  ResponseUsage: ResponseUsageSchema,
  TranscriptionUsage: TranscriptionUsageSchema,
  ClientItem: ClientItemSchema,
  Item: itemSchema({ audio: 'audio', text: 'text' }),
  AssistantItem: assistantItemSchema({ audio: 'audio', text: 'text' }),
  EndedResponse: endedResponseSchema({ audio: 'audio', text: 'text' }),
  GaItem: itemSchema({ audio: 'output_audio', text: 'output_text' }),
  GaAssistantItem: assistantItemSchema({ audio: 'output_audio', text: 'output_text' }),
  GaEndedResponse: endedResponseSchema({ audio: 'output_audio', text: 'output_text' }),
});

/**
 * Session updates are validated field by field, so the schema of the event itself only requires an object.
 */
const CLIENT_SCHEMAS: ReadonlyMap<string, TObject> = new Map(
  [...CLIENT_EVENT_SCHEMAS].map(([type, schema]) => [
    type,
    type === 'session.update' ? open({ ...schema.properties, session: SessionUpdateSchema }) : schema,
  ]),
);

/** Returns the document as a JSON object. */
export function asyncApiDocument(version: string) {
  const spec = serverMessages('spec');
  const document = channelDocument({
    info: { title: 'Voice service: realtime', version, description: description() },
    name: 'realtime',
    address: ADDRESS,
    summary: 'Speech to text, text to speech, or both over one connection.',
    handshake: handshake(),
    operations: {
      receiveEvents: {
        action: 'receive',
        summary: 'Client events. They are processed strictly in order.',
        messages: clientMessages(),
      },
      sendEvents: {
        action: 'send',
        summary: 'Server events in the names of the specification, which is the default.',
        messages: spec,
      },
      sendGaEvents: {
        action: 'send',
        summary: 'Server events in the GA names, for clients that select them.',
        messages: withPrefix('ga', serverMessages('ga'), spec),
      },
    },
    schemas: SHARED.definitions(),
    securitySchemes: securitySchemes(),
  });
  return {
    ...document,
    'x-error-codes': Object.entries(ERROR_CODES).map(([code, when]) => ({
      code,
      type: ERROR_TYPES[code as RealtimeErrorCode],
      when,
    })),
    'x-limits': LIMITS.map(([what, limit]) => ({ what, limit })),
  };
}

interface EventDoc {
  readonly summary: string;
  readonly example: { readonly type: string; readonly event_id?: string | null };
}

function clientMessages(): Messages {
  const docs: readonly EventDoc[] = [...Object.values(CLIENT_EVENT_DOCS), BETA_SESSION_UPDATE_DOC];
  return messagesOf(docs, CLIENT_SCHEMAS);
}

function serverMessages(dialect: Dialect): Messages {
  const docs = Object.values(SERVER_EVENT_DOCS).flatMap(({ summary, example: event }): EventDoc[] => {
    // Further events of this dialect have their own descriptions.
    const [first] = toDialect(event, dialect);
    if (first === undefined) return [];
    const { type, ...payload } = first;
    return [{ summary, example: { type, event_id: 'event_7f3a', ...payload } }];
  });
  return messagesOf(docs, SERVER_EVENT_SCHEMAS[dialect]);
}

function messagesOf(docs: readonly EventDoc[], schemas: ReadonlyMap<string, TObject>): Messages {
  return Object.fromEntries(
    docs.map(({ summary, example }) => {
      const payload = SHARED.withReferences(plain(schemas.get(example.type)));
      return [example.type, { name: example.type, summary, payload, examples: [{ payload: example }] }];
    }),
  );
}

function description(): string {
  return `Every frame is a JSON object as text; binary frames are rejected. A missing or invalid key is rejected before the upgrade with HTTP 401 and the code \`missing_api_key\` or \`invalid_api_key\`.

Order:
1. \`session.created\` is the first event. Every \`session.update\` results in one \`error\` per rejected field, which keeps its value, followed by \`session.updated\`.
2. Manual commits: \`input_audio_buffer.append\`\\*, \`commit\`, then \`committed\`, \`…transcription.delta\`\\*, \`…completed\` or \`…failed\`.
3. \`server_vad\`: \`speech_started\`, \`speech_stopped\`, \`committed\`, then as above.
4. Speech: \`conversation.item.create\`, \`conversation.item.created\`, \`response.create\`, then \`response.created\`, \`response.output_item.added\`, \`response.content_part.added\`, \`response.audio.delta\`\\*, \`response.audio_transcript.delta\`\\*, \`response.audio_transcript.done\`, \`response.audio.done\`, \`response.content_part.done\`, \`response.output_item.done\`, \`response.done\`. A cancelled or failed response has no transcript events.

Errors:

| code | cause |
|---|---|${rows(Object.entries(ERROR_CODES))}Limits:

| resource | limit |
|---|---|${rows(LIMITS)}
`;
}
