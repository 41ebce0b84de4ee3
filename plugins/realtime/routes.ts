import { Elysia } from 'elysia';
import { ServiceError } from '../../src/contract/core/error.ts';
import { errorResponse } from '../../src/http/openapi/route-docs.ts';
import { callerOf } from '../../src/http/security/caller.ts';
import { WEBSOCKET } from '../../src/http/server/route-table.ts';
import { addressOf } from '../../src/http/transport/address.ts';
import { upgrade } from '../../src/http/transport/socket.ts';
import type { ConnectionRegistry } from './connection-registry.ts';
import { DIALECTS } from './protocol/dialect.ts';

/** The subprotocol that is selected if the client offers it (spec 5, rule 5). */
const PROTOCOL = 'realtime';

/** GET /v1/realtime, which upgrades to a WebSocket (spec 4.7). The API key is already verified. */
export function realtimeRoutes(connections: ConnectionRegistry) {
  return new Elysia({ name: 'realtime', tags: ['realtime'] }).get(
    '/v1/realtime',
    async ({ request, set }) => {
      const { searchParams } = addressOf(request);
      if (searchParams.has('call_id')) throw noCalls();
      const caller = callerOf(request);
      await connections.prepare(caller, searchParams, request.signal);
      const connection = connections.open(caller, searchParams, request.headers);
      try {
        upgrade(request, connection, {
          protocol: PROTOCOL,
          headers: { 'x-request-id': caller.requestId },
        });
      } catch (error) {
        // Without a socket, nothing else would report that the connection is closed.
        connection.closed();
        throw error;
      }
      set.status = 101;
    },
    { detail: documentation() },
  );
}

/** OpenAI clients may pass the id of a WebRTC call. This service has no WebRTC calls. */
function noCalls(): ServiceError {
  return new ServiceError('not_found', "No call with this 'call_id'.", { param: 'call_id' });
}

function documentation() {
  const query = (name: string, description: string, values?: readonly string[]) => ({
    name,
    in: 'query' as const,
    required: false,
    description,
    schema: { type: 'string' as const, ...(values === undefined ? {} : { enum: [...values] }) },
  });
  return {
    [WEBSOCKET]: true,
    summary: 'Realtime audio over WebSocket',
    description:
      'Streams speech to text (manual commits or server-side voice activity detection), text to speech, or both over one WebSocket with JSON text frames. See [the frames](docs/sockets#realtime). A browser, which cannot set headers, offers the subprotocols `realtime` and `ext-insecure-api-key.<API_KEY>`. This page cannot open a WebSocket: use the console instead, or see [the guide](docs/realtime).',
    parameters: [
      query(
        'model',
        'A configured transcription or speech model becomes the default of the session. Any other value is only echoed.',
      ),
      query('intent', '`transcription` opens a session that only transcribes, also without `model`.'),
      query(
        'events',
        'Event names: `spec` for the names of the specification, `ga` for the names of the OpenAI GA protocol.',
        DIALECTS,
      ),
    ],
    responses: {
      101: { description: 'The connection is a WebSocket. The first frame is `session.created`.' },
      400: errorResponse('Invalid value of `events`'),
      404: errorResponse('`call_id` is not supported: this service has no calls'),
      426: errorResponse('The request is not a WebSocket upgrade'),
      429: errorResponse('The organization has too many open connections'),
      503: errorResponse('The server is shutting down'),
    },
  };
}
