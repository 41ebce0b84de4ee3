import { Elysia } from 'elysia';
import { ServiceError } from '../../src/contract/core/error.ts';
import { failure } from '../../src/http/openapi/route-docs.ts';
import { callerOf } from '../../src/http/security/caller.ts';
import { addressOf } from '../../src/http/transport/address.ts';
import { upgrade } from '../../src/http/transport/socket.ts';
import type { ConnectionRegistry } from './connection-registry.ts';
import { DIALECTS } from './protocol/dialect.ts';

/** The subprotocol that is told to clients which offer it (spec 5, rule 5). */
const PROTOCOL = 'realtime';

/** GET /v1/realtime, which becomes a WebSocket (spec 4.7). The key was checked before it comes here. */
export function realtimeRoutes(connections: ConnectionRegistry) {
  return new Elysia({ name: 'realtime', tags: ['realtime'] }).get(
    '/v1/realtime',
    ({ request, set }) => {
      const { searchParams } = addressOf(request);
      if (searchParams.has('call_id')) throw noCalls();
      const caller = callerOf(request);
      const connection = connections.open(caller, searchParams, request.headers);
      try {
        upgrade(request, connection, {
          protocol: PROTOCOL,
          headers: { 'x-request-id': caller.requestId },
        });
      } catch (error) {
        // No socket will ever say that it was closed.
        connection.closed();
        throw error;
      }
      set.status = 101;
    },
    { detail: documentation() },
  );
}

/** Calls over WebRTC, which OpenAI's clients may join by their id, do not exist here. */
function noCalls(): ServiceError {
  return new ServiceError('not_found', "There is no call with this 'call_id'.", { param: 'call_id' });
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
    summary: 'Realtime audio over WebSocket',
    description:
      'Streams speech to text (manual commit or server-side voice activity detection), text to speech, or both over one WebSocket of JSON text frames. [Its frames](docs/sockets#realtime). A browser, which cannot set headers, offers the subprotocols `realtime` and `ext-insecure-api-key.<API_KEY>`. This page cannot open a WebSocket: to try it, use the console, or see [the guide](docs/realtime).',
    parameters: [
      query(
        'model',
        'A configured recogniser or voice model becomes the default of the session; any other is only echoed.',
      ),
      query('events', "Names of the events: the specification's, or those of OpenAI's GA clients.", DIALECTS),
    ],
    responses: {
      101: { description: 'The connection is a WebSocket; the first frame is `session.created`' },
      400: failure('`events` has another value'),
      404: failure('`call_id` was given: there are no calls'),
      426: failure('The request does not ask for a WebSocket'),
      429: failure('The organization has too many connections open'),
      503: failure('The server is shutting down'),
    },
  };
}
