import { ServiceError } from '../../src/contract/core/error.ts';
import type { Route } from '../../src/contract/route.ts';
import { queryParameter } from '../../src/http/openapi/route-docs.ts';
import { route } from '../../src/http/route.ts';
import { addressOf } from '../../src/http/transport/address.ts';
import { upgrade } from '../../src/http/transport/socket.ts';
import type { ConnectionRegistry } from './connection-registry.ts';
import { DIALECTS } from './protocol/dialect.ts';

export interface RealtimeServices {
  readonly connections: ConnectionRegistry;
}

/** The subprotocol that is selected if the client offers it (spec 5, rule 5). */
const PROTOCOL = 'realtime';

/** GET /v1/realtime, which upgrades to a WebSocket (spec 4.7). The API key is already verified. */
export const REALTIME_ROUTES: readonly Route<RealtimeServices>[] = [
  route({
    method: 'GET',
    path: '/v1/realtime',
    tag: 'realtime',
    summary: 'Realtime audio over WebSocket',
    description:
      'Streams speech to text (manual commits or server-side voice activity detection), text to speech, or both over one WebSocket with JSON text frames. See [the frames](docs/sockets#realtime). A browser, which cannot set headers, offers the subprotocols `realtime` and `ext-insecure-api-key.<API_KEY>`. This page cannot open a WebSocket: use the console instead, or see [the guide](docs/realtime).',
    opensSocket: true,
    query: {
      parameters: [
        queryParameter(
          'model',
          { type: 'string' },
          'A configured transcription or speech model becomes the default of the session. Any other value is only echoed.',
        ),
        queryParameter(
          'intent',
          { type: 'string' },
          '`transcription` opens a session that only transcribes, also without `model`.',
        ),
        queryParameter(
          'events',
          { type: 'string', enum: DIALECTS },
          'Event names: `spec` for the names of the specification, `ga` for the names of the OpenAI GA protocol.',
        ),
      ],
      // The session reads the parameters itself.
      read: (request) => addressOf(request).searchParams,
    },
    responses: {
      101: { description: 'The connection is a WebSocket. The first frame is `session.created`.' },
      400: 'Invalid value of `events`',
      404: '`call_id` is not supported: this service has no calls',
      426: 'The request is not a WebSocket upgrade',
      429: 'The organization has too many open connections',
      503: 'The server is shutting down',
    },
    async handle({ caller, request, query, set }, { connections }: RealtimeServices) {
      if (query.has('call_id')) throw noCalls();
      // Browsers cannot read the response of a rejected handshake, so the console sends a plain request for the reason.
      const connection = await connections.open(caller, query, request.headers, request.signal);
      upgrade(request, connection, {
        protocol: PROTOCOL,
        headers: { 'x-request-id': caller.requestId },
      });
      set.status = 101;
    },
  }),
];

/** OpenAI clients may pass the id of a WebRTC call. This service has no WebRTC calls. */
function noCalls(): ServiceError {
  return new ServiceError('not_found', "No call with this 'call_id'.", { param: 'call_id' });
}
