/**
 * The AsyncAPI 3.0 document of /v1/transcribers/partner, built from the schemas of its messages. `bun
 * scripts/asyncapi.ts` writes it to docs/partner.asyncapi.json.
 */

import type { TSchema } from '@sinclair/typebox';
import { plain } from '../../../src/http/openapi/route-docs.ts';
import { MAX_BUFFERED_BYTES, MAX_TURNS } from '../transcriber/phone-call.ts';
import {
  errorMessage,
  TranscriberErrorSchema,
  TranscriberResponseSchema,
  transcriptMessage,
} from '../transcriber/platform-messages.ts';
import { MAX_START_CHARACTERS, StartSchema } from '../transcriber/start-message.ts';

const CHANNEL = 'transcriber';

const START = {
  type: 'start',
  encoding: 'linear16',
  container: 'raw',
  sampleRate: 16_000,
  channels: 2,
  language: 'en',
};

const CLIENT_MESSAGES = {
  start: message(
    'start',
    'How the audio of the call comes. One that cannot be used gives an error that names the field, then the close code 1008. A later one counts from there on.',
    StartSchema,
    [START],
  ),
  audio: {
    name: 'audio',
    summary: 'A binary frame: samples of both channels in turn, cut anywhere.',
    contentType: 'application/octet-stream',
    payload: { type: 'string', format: 'binary' },
  },
};

const SERVER_MESSAGES = {
  'transcriber-response': message(
    'transcriber-response',
    'What the customer says: `partial` while a turn lasts, each in place of the one before, and `final` when it is over.',
    TranscriberResponseSchema,
    [
      transcriptMessage('partial', 'I would like to'),
      transcriptMessage('final', 'I would like to book a table for two.'),
    ],
  ),
  error: message(
    'error',
    'Something failed. The call goes on, unless a close follows.',
    TranscriberErrorSchema,
    [errorMessage("'sampleRate' must be an integer from 8000 to 48000.")],
  ),
};

const CLOSE_CODES: readonly (readonly [code: number, why: string])[] = [
  [1001, 'The service stops; the open turn was told first.'],
  [1008, 'The start message cannot be used.'],
  [1011, 'A fault of the server.'],
  [
    1013,
    `Audio comes faster than it is dealt with: more than ${MAX_BUFFERED_BYTES} bytes of the customer, or ${MAX_TURNS} turns, wait.`,
  ],
];

/** The document as an object of JSON. */
export function asyncApiDocument(version: string) {
  const messages = { ...CLIENT_MESSAGES, ...SERVER_MESSAGES };
  const operation = (keys: readonly string[]) => ({
    channel: { $ref: `#/channels/${CHANNEL}` },
    messages: keys.map((key) => ({ $ref: `#/channels/${CHANNEL}/messages/${key}` })),
  });
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Voice service: transcriber of the partner platform',
      version,
      description: description(),
    },
    defaultContentType: 'application/json',
    servers: {
      plain: { host: '127.0.0.1:8080', protocol: 'ws', security: securityReferences() },
      tls: { host: 'voice.example', protocol: 'wss', security: securityReferences() },
    },
    channels: {
      [CHANNEL]: {
        address: '/v1/transcribers/partner',
        summary: 'Audio of a call in, words of the customer out.',
        messages: Object.fromEntries(
          Object.keys(messages).map((key) => [key, { $ref: `#/components/messages/${key}` }]),
        ),
        bindings: { ws: handshake() },
      },
    },
    operations: {
      receiveCall: {
        action: 'receive',
        summary: `Any other text frame, and one of more than ${MAX_START_CHARACTERS} characters, is ignored.`,
        ...operation(Object.keys(CLIENT_MESSAGES)),
      },
      sendWords: {
        action: 'send',
        summary: 'Nothing before the customer speaks, nothing for silence, and nothing of the assistant.',
        ...operation(Object.keys(SERVER_MESSAGES)),
      },
    },
    components: { messages, securitySchemes: SECURITY },
    'x-close-codes': CLOSE_CODES.map(([code, why]) => ({ code, why })),
  };
}

function message(name: string, summary: string, schema: TSchema, examples: readonly object[]) {
  return { name, summary, payload: plain(schema), examples: examples.map((payload) => ({ payload })) };
}

/** What the platform may say in the address. */
function handshake() {
  const text = (description: string) => ({ type: 'string', description });
  return {
    bindingVersion: '0.1.0',
    method: 'GET',
    query: {
      type: 'object',
      properties: {
        model: { ...text('Id of a recogniser. Any other is refused by HTTP 400.'), default: 'svc-stt' },
        language: text(
          'ISO 639-1 code of what customers speak. Left out: that of the start message, else it is found out.',
        ),
      },
    },
  };
}

const header = (name: string) => ({ type: 'httpApiKey', in: 'header', name, description: 'The key alone.' });

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: '`Bearer <API_KEY>`: what reaches every handshake.',
  },
  apiKey: header('x-api-key'),
  partnerSecret: header('x-partner-secret'),
};

function securityReferences() {
  return Object.keys(SECURITY).map((name) => ({ $ref: `#/components/securitySchemes/${name}` }));
}

function description(): string {
  return `The custom transcriber of a voice-agent platform. A missing or a wrong key is answered before the upgrade, by HTTP 401 with the code \`missing_api_key\` or \`invalid_api_key\`.

Order:
1. The \`start\` message comes first. Audio before any start is taken as 16000 Hz with two channels.
2. Finals come in the order in which their turns were spoken.
3. Partials are of the turn whose final comes next; none follows that final.
4. An \`error\` stands in the place of the final of a turn that could not be transcribed.

| close code | why |
|---|---|
${CLOSE_CODES.map(([code, why]) => `| ${code} | ${why} |`).join('\n')}
`;
}
