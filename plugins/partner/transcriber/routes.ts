import { Elysia } from 'elysia';
import { failure } from '../../../src/http/openapi/route-docs.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { addressOf } from '../../../src/http/transport/address.ts';
import { upgrade } from '../../../src/http/transport/socket.ts';
import type { PhoneCalls } from './phone-calls.ts';

/**
 * GET /v1/transcribers/partner, which becomes a WebSocket (spec 4.10), the custom transcriber of a voice-agent
 * platform. The key was checked before it comes here.
 */
export function transcriberRoutes(calls: PhoneCalls) {
  return new Elysia({ name: 'partner-transcriber', tags: ['partner'] }).get(
    '/v1/transcribers/partner',
    ({ request, set }) => {
      const caller = callerOf(request);
      const call = calls.open(caller, addressOf(request).searchParams);
      try {
        upgrade(request, call, { protocol: '', headers: { 'x-request-id': caller.requestId } });
      } catch (error) {
        // No socket will ever say that it was closed.
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
    summary: 'Transcriber of a voice-agent platform over WebSocket',
    description:
      'The platform sends a `start` message and the audio of a call; it is sent what the customer says. [Its frames](docs/sockets#partner). This page cannot open a WebSocket: to try it, see [the guide](docs/partner).',
    parameters: [
      query('model', 'Id of a recogniser.', 'svc-stt'),
      query('language', 'ISO 639-1 code of what the customer speaks. Left out: it is found out.'),
    ],
    responses: {
      101: { description: 'The connection is a WebSocket' },
      400: failure('The model is not known, or it does not know the language'),
      426: failure('The request does not ask for a WebSocket'),
      429: failure('The organization has too many calls open'),
      503: failure('The server is shutting down'),
    },
  };
}
