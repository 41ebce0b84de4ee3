import type { Route } from '../../../src/contract/route.ts';
import { jsonBody, queryParameter, WORK_FAILURES } from '../../../src/http/openapi/route-docs.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { route } from '../../../src/http/route.ts';
import { addressOf } from '../../../src/http/transport/address.ts';
import type { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { DEFAULT_MODEL, parseVoiceRequest, voiceBodySchema } from './schema.ts';

export interface VoiceServices {
  readonly voiceRequests: SpeechRequests;
}

/** POST /v1/voices/partner (spec 4.9): the custom voice of a voice-agent platform. */
export function voiceRoutes(maxCharacters: number): readonly Route<VoiceServices>[] {
  return [
    route({
      method: 'POST',
      path: '/v1/voices/partner',
      tag: 'partner',
      summary: 'Custom voice for a voice-agent platform',
      description:
        'Synthesizes one part of a reply: raw signed 16-bit little-endian PCM, mono, at the requested rate, streamed during synthesis. A text without words, such as `…`, has an empty body and costs nothing. Other fields of the request are ignored.',
      query: {
        parameters: [
          queryParameter('model', { type: 'string', default: DEFAULT_MODEL }, 'Id of a speech model.'),
          queryParameter('voice_id', { type: 'string' }, 'Id of a stored voice. The body takes precedence.'),
          queryParameter(
            'language',
            { type: 'string' },
            'Language of the text as a BCP 47 tag, such as `es` or `pt-BR`. Default: the language of the voice, or the detected one.',
          ),
        ],
      },
      body: {
        json: {
          schema: jsonBody(voiceBodySchema(maxCharacters)),
          examples: {
            piece: {
              summary: 'A part of a reply',
              value: { message: { type: 'voice-request', text: 'Good evening.', sampleRate: 16_000 } },
            },
          },
        },
        read: (body, request) => parseVoiceRequest(body, addressOf(request).searchParams, maxCharacters),
      },
      responses: {
        200: {
          description: 'The audio',
          content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
        },
        ...WORK_FAILURES,
        415: 'The body is not JSON',
        500: 'The synthesis failed',
        502: 'The upstream synthesis server failed',
      },
      async handle({ caller, request, body }, { voiceRequests }: VoiceServices) {
        const idleTimeout = idleTimeoutOf(request);
        idleTimeout.suspend();
        const disconnected = new AbortController();
        try {
          const signal = AbortSignal.any([request.signal, disconnected.signal]);
          const speech = await voiceRequests.startSpeech(
            // A caller is on the phone: same priority as realtime responses.
            { ...body, speed: 1, priority: 'realtime', delivery: 'stream' },
            caller,
            signal,
          );
          // The content type of the platform's guide. The platform plays the bytes as they arrive and ignores the type.
          const headers = { 'content-type': 'application/octet-stream' };
          // Nothing to speak, as in `…`: silence, because an error would cost the phone call its turn.
          if (speech === undefined) return new Response(new Uint8Array(0), { headers });
          return new Response(streamedBody(speech.audio, disconnected, request), { headers });
        } finally {
          idleTimeout.resume();
        }
      },
    }),
  ];
}
