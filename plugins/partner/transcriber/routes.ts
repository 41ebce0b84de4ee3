import type { Route } from '../../../src/contract/route.ts';
import { queryParameter } from '../../../src/http/openapi/route-docs.ts';
import { route } from '../../../src/http/route.ts';
import { addressOf } from '../../../src/http/transport/address.ts';
import { upgrade } from '../../../src/http/transport/socket.ts';
import type { PhoneCalls } from './phone-calls.ts';

export interface TranscriberServices {
  readonly phoneCalls: PhoneCalls;
}

/**
 * GET /v1/transcribers/partner, the custom transcriber of a voice-agent platform: upgrades to a WebSocket (spec 4.10).
 * The API key is already verified.
 */
export const TRANSCRIBER_ROUTES: readonly Route<TranscriberServices>[] = [
  route({
    method: 'GET',
    path: '/v1/transcribers/partner',
    tag: 'partner',
    summary: 'Custom transcriber for a voice-agent platform (WebSocket)',
    description:
      'The platform sends a `start` message and the audio of a call, and receives transcripts of the customer. [Messages](docs/sockets#partner). Swagger UI cannot open WebSockets; see [the guide](docs/partner).',
    opensSocket: true,
    query: {
      parameters: [
        queryParameter('model', { type: 'string', default: 'svc-stt' }, 'Id of a transcription model.'),
        queryParameter(
          'language',
          { type: 'string' },
          'ISO 639-1 code of the spoken language. Default: detected automatically.',
        ),
      ],
      // The call reads the parameters itself.
      read: (request) => addressOf(request).searchParams,
    },
    responses: {
      101: { description: 'The connection is a WebSocket' },
      400: 'The model is unknown or does not support the language',
      426: 'The request is not a WebSocket upgrade',
      429: 'The organization has too many open calls',
      503: 'The server is shutting down',
    },
    handle({ caller, request, query, set }, { phoneCalls }: TranscriberServices) {
      const call = phoneCalls.openCall(caller, query);
      upgrade(request, call, { protocol: '', headers: { 'x-request-id': caller.requestId } });
      set.status = 101;
    },
  }),
];
