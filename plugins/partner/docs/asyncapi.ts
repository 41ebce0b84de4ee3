/**
 * The AsyncAPI 3.0 document of /v1/transcribers/partner, generated from the message schemas. `bun scripts/asyncapi.ts`
 * writes it to docs/partner.asyncapi.json.
 */

import type { TSchema } from '@sinclair/typebox';
import { channelDocument } from '../../../src/http/openapi/channel-document.ts';
import { toPlainSchema } from '../../../src/http/openapi/route-docs.ts';
import { MAX_BUFFERED_BYTES, MAX_TURNS } from '../transcriber/phone-call.ts';
import {
  errorMessage,
  TranscriberErrorSchema,
  TranscriberResponseSchema,
  transcriptMessage,
} from '../transcriber/platform-messages.ts';
import { MAX_START_CHARACTERS, StartSchema } from '../transcriber/start-message.ts';

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
    'Audio format of the call. An invalid message is answered with an error that names the field and close code 1008. A later message changes the format from there on.',
    StartSchema,
    [START],
  ),
  audio: {
    name: 'audio',
    summary: 'A binary frame: interleaved samples of both channels, split anywhere.',
    contentType: 'application/octet-stream',
    payload: { type: 'string', format: 'binary' },
  },
};

const SERVER_MESSAGES = {
  'transcriber-response': message(
    'transcriber-response',
    'Transcript of the customer: `partial` during a turn, each replacing the previous one, and `final` at its end.',
    TranscriberResponseSchema,
    [
      transcriptMessage('partial', 'I would like to'),
      transcriptMessage('final', 'I would like to book a table for two.'),
    ],
  ),
  error: message(
    'error',
    'An error. The call continues unless the socket is closed.',
    TranscriberErrorSchema,
    [errorMessage("'sampleRate' must be an integer from 8000 to 48000.")],
  ),
};

const CLOSE_CODES: readonly (readonly [code: number, why: string])[] = [
  [1001, 'The service shuts down; the open turn was sent first.'],
  [1008, 'Invalid start message.'],
  [1011, 'Internal server error.'],
  [
    1013,
    `Audio arrives faster than it is processed: more than ${MAX_BUFFERED_BYTES} bytes of customer audio or ${MAX_TURNS} turns are pending.`,
  ],
];

/** Returns the document as a JSON object. */
export function asyncApiDocument(version: string) {
  const document = channelDocument({
    info: {
      title: 'Voice service: transcriber of the partner platform',
      version,
      description: description(),
    },
    name: 'transcriber',
    address: '/v1/transcribers/partner',
    summary: 'Receives the audio of a call and sends transcripts of the customer.',
    handshake: { query: QUERY },
    operations: {
      receiveCall: {
        action: 'receive',
        summary: `Other text frames, and frames of more than ${MAX_START_CHARACTERS} characters, are ignored.`,
        messages: CLIENT_MESSAGES,
      },
      sendWords: {
        action: 'send',
        summary: 'Nothing is sent before the customer speaks, for silence, or for the assistant.',
        messages: SERVER_MESSAGES,
      },
    },
    securitySchemes: SECURITY,
  });
  return { ...document, 'x-close-codes': CLOSE_CODES.map(([code, why]) => ({ code, why })) };
}

function message(name: string, summary: string, schema: TSchema, examples: readonly object[]) {
  return {
    name,
    summary,
    payload: toPlainSchema(schema),
    examples: examples.map((payload) => ({ payload })),
  };
}

const text = (description: string) => ({ type: 'string', description });

/** The query of the upgrade request. */
const QUERY = {
  type: 'object',
  properties: {
    model: {
      ...text('Id of a transcription model. Unknown models return HTTP 400.'),
      default: 'svc-stt',
    },
    language: text(
      'ISO 639-1 code of the spoken language. Default: that of the start message, else detected automatically.',
    ),
  },
};

const header = (name: string) => ({ type: 'httpApiKey', in: 'header', name, description: 'The API key.' });

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: '`Bearer <API_KEY>`. Available in every handshake.',
  },
  apiKey: header('x-api-key'),
  partnerSecret: header('x-partner-secret'),
};

function description(): string {
  return `The custom transcriber of a voice-agent platform. A missing or invalid key returns HTTP 401 before the upgrade, with the code \`missing_api_key\` or \`invalid_api_key\`.

Order of messages:
1. The \`start\` message comes first. Without it, audio is read as 16000 Hz with two channels.
2. Finals are sent in the order in which the turns were spoken.
3. Partials belong to the turn whose final is sent next; none follows that final.
4. If a turn cannot be transcribed, an \`error\` replaces its final.

| close code | reason |
|---|---|
${CLOSE_CODES.map(([code, why]) => `| ${code} | ${why} |`).join('\n')}
`;
}
