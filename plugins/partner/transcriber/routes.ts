import { Elysia } from 'elysia';
import { errorResponse } from '../../../src/http/openapi/route-docs.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { WEBSOCKET } from '../../../src/http/server/route-table.ts';
import { addressOf } from '../../../src/http/transport/address.ts';
import { upgrade } from '../../../src/http/transport/socket.ts';
import type { PhoneCalls } from './phone-calls.ts';

/**
 * GET /v1/transcribers/partner, the custom transcriber of a voice-agent platform: upgrades to a WebSocket (spec 4.10).
 * The API key is already verified.
 */
export function transcriberRoutes(calls: PhoneCalls) {
  return new Elysia({ name: 'partner-transcriber', tags: ['partner'] }).get(
    '/v1/transcribers/partner',
    ({ request, set }) => {
      const caller = callerOf(request);
      const call = calls.openCall(caller, addressOf(request).searchParams);
      try {
        upgrade(request, call, { protocol: '', headers: { 'x-request-id': caller.requestId } });
      } catch (error) {
        // A socket that was never opened has no close event.
        call.closed();
        throw error;
      }
      set.status = 101;
    },
    { detail: documentation() },
  );
}

function documentation() {
  const query = (name: string, description: string, fallback?: string) => ({
    name,
    in: 'query' as const,
    required: false,
    description,
    schema: { type: 'string' as const, ...(fallback === undefined ? {} : { default: fallback }) },
  });
  return {
    [WEBSOCKET]: true,
    summary: 'Custom transcriber for a voice-agent platform (WebSocket)',
    description:
      'The platform sends a `start` message and the audio of a call, and receives transcripts of the customer. [Messages](docs/sockets#partner). Swagger UI cannot open WebSockets; see [the guide](docs/partner).',
    parameters: [
      query('model', 'Id of a transcription model.', 'svc-stt'),
      query('language', 'ISO 639-1 code of the spoken language. Default: detected automatically.'),
    ],
    responses: {
      101: { description: 'The connection is a WebSocket' },
      400: errorResponse('The model is unknown or does not support the language'),
      426: errorResponse('The request is not a WebSocket upgrade'),
      429: errorResponse('The organization has too many open calls'),
      503: errorResponse('The server is shutting down'),
    },
  };
}
