/** The parts that the AsyncAPI documents of /v1/realtime share: its address, upgrade request, API keys and protocols. */

import type { Messages } from '../../../src/http/openapi/channel-document.ts';

export const ADDRESS = '/v1/realtime';

/** Query, headers and subprotocols of the upgrade request (openai-wire 8.1, 8.2). */
export function handshake() {
  const text = (description: string) => ({ type: 'string', description });
  return {
    query: {
      type: 'object',
      properties: {
        events: {
          enum: ['spec', 'ga'],
          description: 'Event names. Default: derived from the client.',
        },
        intent: text('`transcription` opens a session that only transcribes.'),
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

export function securitySchemes() {
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

/** The messages of a second protocol. Those that differ from the first one's get a prefix; the others are the same. */
export function withPrefix(prefix: string, second: Messages, first: Messages): Messages {
  const isSame = (key: string) => JSON.stringify(second[key]) === JSON.stringify(first[key]);
  return Object.fromEntries(
    Object.entries(second).map(([key, message]) => [isSame(key) ? key : `${prefix}.${key}`, message]),
  );
}

/** Rows of a Markdown table with two columns. */
export function rows(entries: readonly (readonly [string, string])[]): string {
  return entries.map(([left, right]) => `| ${left} | ${right} |`).join('\n');
}
