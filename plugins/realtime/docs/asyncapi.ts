/**
 * Builds the AsyncAPI 3.0 document of /v1/realtime from the schemas that validate its frames. `bun
 * scripts/asyncapi.ts` writes it to docs/realtime.asyncapi.json.
 */

import type { TObject, TSchema } from '@sinclair/typebox';
import { MAX_FRAME_BYTES } from '../../../src/http/transport/socket.ts';
import { MAX_QUEUED_CHARACTERS, MAX_QUEUED_FRAMES } from '../frame-queue.ts';
import {
  CLIENT_EVENT_SCHEMAS,
  ClientItemSchema,
  MAX_DEPTH,
  MAX_EVENT_CHARACTERS,
  MAX_EVENT_ID_CHARACTERS,
  MAX_VALUES,
} from '../protocol/client-events.ts';
import { type Dialect, toDialect } from '../protocol/dialect.ts';
import { ERROR_TYPES, type RealtimeErrorCode } from '../protocol/error-codes.ts';
import {
  assistantItemSchema,
  endedResponseSchema,
  FormatSchema,
  itemSchema,
  open,
  ResponseUsageSchema,
  SessionSchema,
  StartedResponseSchema,
  TranscriptionUsageSchema,
  TurnDetectionSchema,
} from '../protocol/event-schemas.ts';
import { SERVER_EVENT_SCHEMAS } from '../protocol/server-events.ts';
import { MAX_ITEM_BYTES, WINDOW_ITEMS } from '../state/conversation.ts';
import { BETA_SESSION_UPDATE_DOC, CLIENT_EVENT_DOCS, SERVER_EVENT_DOCS } from './events.ts';
import { SessionUpdateSchema } from './session-update.ts';

const ADDRESS = '/v1/realtime';

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

const LIMITS: readonly (readonly [what: string, limit: string])[] = [
  ['Audio between commits', '25 MiB'],
  ['Conversation', `the last ${WINDOW_ITEMS} items, each at most ${MAX_ITEM_BYTES} bytes`],
  ['Responses in progress', '1 per connection'],
  ['Sample rate of `audio/pcm`', '8000 to 48000 Hz; `audio/pcmu` and `audio/pcma` 8000 Hz'],
  ['`threshold`', '0 to 1'],
  ['`prefix_padding_ms`, `silence_duration_ms`', '0 to 5000 ms'],
  ['`event_id` of a client event', `${MAX_EVENT_ID_CHARACTERS} characters`],
  ['One frame', `${MAX_FRAME_BYTES / 1024 / 1024} MiB`],
  [
    'One event except an append',
    `${MAX_EVENT_CHARACTERS} characters, ${MAX_DEPTH} levels of nested lists and objects`,
  ],
  ['One event', `${MAX_VALUES} commas and brackets`],
  [
    'Events that wait for the voice lookup of a `session.update`',
    `${MAX_QUEUED_FRAMES}, and ${MAX_QUEUED_CHARACTERS / 1024 / 1024} MiB`,
  ],
];

/** Schemas shared by several messages, by their names in the document. */
const SHARED: ReadonlyMap<string, string> = new Map(
  Object.entries({
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
  }).map(([name, schema]) => [JSON.stringify(schema), name]),
);

/**
 * Session updates are validated field by field, so the schema of the event itself only requires an object.
 */
const CLIENT_SCHEMAS: ReadonlyMap<string, TObject> = new Map(
  [...CLIENT_EVENT_SCHEMAS].map(([type, schema]) => [
    type,
    type === 'session.update' ? open({ ...schema.properties, session: SessionUpdateSchema }) : schema,
  ]),
);

interface Message {
  readonly name: string;
  readonly summary: string;
  readonly payload: unknown;
  readonly examples: readonly { readonly payload: unknown }[];
}

type Messages = Readonly<Record<string, Message>>;

/** Returns the document as a JSON object. */
export function asyncApiDocument(version: string) {
  const client = clientMessages();
  const spec = serverMessages('spec');
  const ga = serverMessages('ga');
  // A message that is the same in both dialects is listed once.
  const both = Object.keys(ga).filter((key) => JSON.stringify(ga[key]) === JSON.stringify(spec[key]));
  const gaKey = (key: string) => (both.includes(key) ? key : `ga.${key}`);
  const gaOwn = Object.entries(ga).filter(([key]) => !both.includes(key));
  const messages = {
    ...client,
    ...spec,
    ...Object.fromEntries(gaOwn.map(([key, message]) => [gaKey(key), message])),
  };
  const operation = (keys: readonly string[]) => ({
    channel: { $ref: '#/channels/realtime' },
    messages: keys.map((key) => ({ $ref: `#/channels/realtime/messages/${key}` })),
  });
  return {
    asyncapi: '3.0.0',
    info: { title: 'Voice service: realtime', version, description: description() },
    defaultContentType: 'application/json',
    servers: {
      plain: { host: '127.0.0.1:8080', protocol: 'ws', security: securityReferences() },
      tls: { host: 'voice.example', protocol: 'wss', security: securityReferences() },
    },
    channels: {
      realtime: {
        address: ADDRESS,
        summary: 'Speech to text, text to speech, or both over one connection.',
        messages: Object.fromEntries(
          Object.keys(messages).map((key) => [key, { $ref: `#/components/messages/${key}` }]),
        ),
        bindings: { ws: handshake() },
      },
    },
    operations: {
      receiveEvents: {
        action: 'receive',
        summary: 'Client events. They are processed strictly in order.',
        ...operation(Object.keys(client)),
      },
      sendEvents: {
        action: 'send',
        summary: 'Server events in the names of the specification, which is the default.',
        ...operation(Object.keys(spec)),
      },
      sendGaEvents: {
        action: 'send',
        summary: 'Server events in the GA names, for clients that select them.',
        ...operation(Object.keys(ga).map(gaKey)),
      },
    },
    components: {
      messages,
      schemas: Object.fromEntries(
        [...SHARED].map(([json, name]) => [name, withReferences(JSON.parse(json), name)]),
      ),
      securitySchemes: securitySchemes(),
    },
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
      const payload = withReferences(plain(schemas.get(example.type)));
      return [example.type, { name: example.type, summary, payload, examples: [{ payload: example }] }];
    }),
  );
}

/** Converts a schema to plain JSON, without the symbols of the validator. */
function plain(schema: TSchema | undefined): unknown {
  if (schema === undefined) throw new Error('An event has a description but no schema.');
  return JSON.parse(JSON.stringify(schema));
}

/** Replaces shared schemas by references. */
function withReferences(schema: unknown, except?: string): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = SHARED.get(JSON.stringify(schema));
  if (name !== undefined && name !== except) return { $ref: `#/components/schemas/${name}` };
  if (Array.isArray(schema)) return schema.map((entry) => withReferences(entry));
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withReferences(value)]));
}

/** Query, headers and subprotocols of the upgrade request (openai-wire 8.1, 8.2). */
function handshake() {
  const text = (description: string) => ({ type: 'string', description });
  return {
    bindingVersion: '0.1.0',
    method: 'GET',
    query: {
      type: 'object',
      properties: {
        events: {
          enum: ['spec', 'ga'],
          description: 'Event names. Default: derived from the client.',
        },
        model: text('Echoed in the session.'),
      },
    },
    headers: {
      type: 'object',
      properties: {
        'Sec-WebSocket-Protocol': text(
          'Offer `realtime`; the server selects it. A second subprotocol may contain the key: `ext-insecure-api-key.<API_KEY>`, `bearer.<API_KEY>` or `openai-insecure-api-key.<API_KEY>`.',
        ),
        'OpenAI-Beta': text('`realtime=v1` selects the names of the specification.'),
        'X-OpenAI-Agents-SDK': text('Selects the GA names.'),
      },
    },
  };
}

function securitySchemes() {
  const key = (name: string, description: string) => ({
    type: 'httpApiKey',
    in: 'header',
    name,
    description,
  });
  return {
    bearer: { type: 'http', scheme: 'bearer', description: 'Recommended for clients that can set headers.' },
    apiKey: key('x-api-key', 'The key without a prefix.'),
    partnerSecret: key('x-partner-secret', 'The key without a prefix.'),
    subprotocol: key(
      'Sec-WebSocket-Protocol',
      'For browsers, which cannot set headers: `realtime, ext-insecure-api-key.<API_KEY>` or `realtime, bearer.<API_KEY>`.',
    ),
  };
}

function securityReferences() {
  return Object.keys(securitySchemes()).map((name) => ({ $ref: `#/components/securitySchemes/${name}` }));
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

function rows(entries: readonly (readonly [string, string])[]): string {
  return entries.map(([left, right]) => `| ${left} | ${right} |`).join('\n');
}
