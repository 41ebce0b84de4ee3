import { Elysia } from 'elysia';
import { failure, jsonBody, WORK_FAILURES } from '../../../src/http/openapi/route-docs.ts';
import { idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import { addressOf } from '../../../src/http/transport/address.ts';
import { DEFAULT_MODEL, parseVoiceRequest, voiceBodySchema } from './schema.ts';
import type { PartnerVoice } from './service.ts';

/** POST /v1/voices/partner (spec 4.9), the custom voice of a voice-agent platform. */
export function voiceRoutes(voice: PartnerVoice, maxCharacters: number) {
  return new Elysia({ name: 'partner-voice', tags: ['partner'] }).post(
    '/v1/voices/partner',
    async ({ body, request }) => {
      const asked = parseVoiceRequest(body, addressOf(request).searchParams, maxCharacters);
      const idleTimeout = idleTimeoutOf(request);
      idleTimeout.suspend();
      const left = new AbortController();
      try {
        const signal = AbortSignal.any([request.signal, left.signal]);
        const chunks = await voice.speak(asked, callerOf(request), signal);
        // The platform's guide names this type; it plays the bytes as they come, without a look at it.
        const headers = { 'content-type': 'application/octet-stream' };
        return new Response(streamedBody(chunks, left, request), { headers });
      } finally {
        idleTimeout.resume();
      }
    },
    { detail: documentation(maxCharacters) },
  );
}

function documentation(maxCharacters: number) {
  const query = (name: string, description: string, fallback?: string) => ({
    name,
    in: 'query' as const,
    required: false,
    description,
    schema: { type: 'string' as const, ...(fallback === undefined ? {} : { default: fallback }) },
  });
  return {
    summary: 'Voice of a voice-agent platform',
    description:
      'Speaks one piece of a reply: raw signed 16-bit little-endian PCM, mono, at the requested rate, sent while it is being made. What else the platform says of the call is ignored.',
    parameters: [
      query('model', 'Id of a speech model.', DEFAULT_MODEL),
      query('voice_id', 'A stored voice, unless the body names one.'),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: jsonBody(voiceBodySchema(maxCharacters)),
          examples: {
            piece: {
              summary: 'A piece of a reply',
              value: { message: { type: 'voice-request', text: 'Good evening.', sampleRate: 16_000 } },
            },
          },
        },
      },
    },
    responses: {
      200: {
        description: 'The audio',
        content: { 'application/octet-stream': { schema: { type: 'string' as const, format: 'binary' } } },
      },
      ...WORK_FAILURES,
      415: failure('The body is not JSON'),
      500: failure('The synthesis failed'),
      502: failure('The server that makes the audio failed'),
    },
  };
}
