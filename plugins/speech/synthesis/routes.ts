import { Elysia } from 'elysia';
import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { Logger } from '../../../src/contract/core/logger.ts';
import { SPEECH_RATE_HZ } from '../../../src/contract/engines/audio.ts';
import type { AudioEncoder } from '../../../src/contract/engines/audio-encoder.ts';
import type { TtsEngine } from '../../../src/contract/engines/engine.ts';
import type { ModelTable } from '../../../src/contract/model-table.ts';
import {
  binaryContent,
  errorResponse,
  jsonBody,
  toPlainSchema,
  WORK_FAILURES,
} from '../../../src/http/openapi/route-docs.ts';
import { WHOLE_BYTES } from '../../../src/http/response/content-response.ts';
import { SSE_HEADERS } from '../../../src/http/response/sse.ts';
import { bodyOutcomeOf, idleTimeoutOf, streamedBody } from '../../../src/http/response/streamed-body.ts';
import { callerOf } from '../../../src/http/security/caller.ts';
import type { ByteBudget } from '../../../src/kit/limits/byte-budget.ts';
import { logFailure } from '../../../src/kit/logging/log-failure.ts';
import type { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { type AudioBody, encodedBody, streamedWav } from './encoded-body.ts';
import { speechEvents } from './event-body.ts';
import { CONTENT_TYPES, FORMATS, isEncoded } from './formats.ts';
import { speechBodySchema, speechFormSchema } from './schema.ts';
import { silentSpeech } from './silent-speech.ts';
import { validRequest } from './speech-request.ts';
import { wavBody, wavBudget } from './wav-body.ts';

/**
 * Maximum length of the audio that is buffered for a `wav` response: 260 MB. Only malicious texts exceed it, but the
 * length is unknown before synthesis: 5000 characters are 5 minutes of prose, or hours of slowly read digits.
 */
const MAX_WAV_S = 90 * 60;

export interface SpeechRoutesOptions {
  readonly tts: ModelTable<TtsEngine>;
  readonly requests: SpeechRequests;
  readonly encoder: AudioEncoder;
  /** Maximum length of `input` in Unicode code points. */
  readonly maxCharacters: number;
  readonly log: Logger;
  /** Maximum length of the audio of a `wav` response that is sent when it is complete, in seconds. */
  readonly maxWavS?: number;
  /** Memory of such responses. */
  readonly wavs?: ByteBudget;
}

/** POST /v1/audio/speech (spec 4.3; for models with OpenAI compatibility as at OpenAI). */
export function speechRoutes({
  tts,
  requests,
  encoder,
  maxCharacters,
  log,
  maxWavS = MAX_WAV_S,
  wavs = wavBudget(),
}: SpeechRoutesOptions) {
  return new Elysia({ name: 'speech', tags: ['audio'] }).post(
    '/v1/audio/speech',
    async ({ body, request }) => {
      const isForm = /^multipart\//i.test(request.headers.get('content-type') ?? '');
      const caller = callerOf(request);
      const rules = { tts, requests, maxCharacters };
      const params = await validRequest(body as object | null, isForm, rules, caller);
      const { input: text, voice: voiceId, format, isStreamed, isCompatible, asEvents, ...spoken } = params;
      // Opened before the synthesis, so that a process of the encoders that has to start is ready for the first audio.
      const encoding = isEncoded(format) ? encoder.open(format, caller.keyId) : undefined;
      // Synthesis of a long text may exceed the idle timeout of the connection.
      const idleTimeout = idleTimeoutOf(request);
      idleTimeout.suspend();
      const disconnected = new AbortController();
      const signal = AbortSignal.any([request.signal, disconnected.signal]);
      let isResponding = false;
      try {
        const started = await requests.startSpeech(
          {
            ...{ ...spoken, text, voiceId, voiceParam: 'voice' },
            ...{ rateHz: SPEECH_RATE_HZ, priority: 'interactive' },
            delivery: isStreamed ? 'stream' : 'whole',
          },
          caller,
          signal,
        );
        const speech = started ?? (isCompatible ? silentSpeech(text) : undefined);
        if (speech === undefined) {
          throw invalidRequest("'input' contains no speakable text.", 'input', 'invalid_value');
        }
        const events = (chunks: AudioBody) =>
          speechEvents(chunks, speech.tokens, (error) => {
            // A disconnected client is not logged as a failure.
            if (signal.aborted) return;
            logFailure(log, 'speech synthesis failed in its stream', error, {
              request_id: caller.requestId,
            });
          });
        /** @param release is called when the body has been sent, or when the client has disconnected. */
        const respond = (chunks: AudioBody, release: () => void) => {
          const body = streamedBody(asEvents ? events(chunks) : chunks, disconnected, request);
          bodyOutcomeOf(request)?.then(release, release);
          isResponding = true;
          return new Response(body, {
            headers: asEvents ? SSE_HEADERS : { 'content-type': CONTENT_TYPES[format] },
          });
        };
        if (encoding !== undefined) return respond(await encodedBody(speech, encoding), encoding.close);
        if (format === 'pcm') return respond(speech.audio, () => undefined);
        if (isStreamed) return respond(await streamedWav(speech), () => undefined);
        const share = wavs.openShare(caller.keyId);
        const { lengthBytes, chunks } = await wavBody(speech, maxWavS, share).catch((error: unknown) => {
          share.end();
          throw error;
        });
        if (lengthBytes > WHOLE_BYTES || asEvents) return respond(chunks, share.end);
        share.end();
        return new Response(Buffer.concat(await Array.fromAsync(chunks)), {
          headers: { 'content-type': CONTENT_TYPES.wav },
        });
      } finally {
        if (!isResponding) encoding?.close();
        idleTimeout.resume();
      }
    },
    { detail: documentation(maxCharacters) },
  );
}

const EVENTS = `data: {"type":"speech.audio.delta","audio":"AAD//w=="}

data: {"type":"speech.audio.done","usage":{"input_tokens":10,"output_tokens":61,"total_tokens":71}}

`;

const TEXT = 'Hello there, how can I help you today?';

function documentation(maxCharacters: number) {
  return {
    summary: 'Text to speech',
    description:
      'Synthesizes speech: mono, 24 kHz. Models with OpenAI compatibility (`tts-1` and others) stream `mp3` (default), `opus` in Ogg, `aac` in ADTS, `flac`, `wav` and `pcm` during synthesis. All other models have `wav` (default), which is sent when it is complete, and `pcm` (signed 16-bit little-endian), which is streamed. With `stream_format` `sse`, the same bytes are sent in events `speech.audio.delta` (base64 in `audio`); `speech.audio.done` with the usage ends them, or an event `error` after a failure.',
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: jsonBody(speechBodySchema(maxCharacters)),
          examples: {
            file: { summary: 'A WAV file', value: { model: 'svc-tts', input: TEXT } },
            streamed: {
              summary: 'Streamed samples',
              value: { model: 'svc-tts', input: TEXT, response_format: 'pcm', speed: 1.1 },
            },
            openai: {
              summary: 'As to OpenAI: a streamed MP3 file',
              value: { model: 'tts-1', input: TEXT, voice: 'alloy' },
            },
            events: {
              summary: 'Streamed samples as events',
              value: { model: 'svc-tts', input: TEXT, response_format: 'pcm', stream_format: 'sse' },
            },
          },
        },
        'multipart/form-data': { schema: toPlainSchema(speechFormSchema(maxCharacters)) },
      },
    },
    responses: {
      200: {
        description: 'The audio',
        content: {
          ...binaryContent(...FORMATS.map((format) => CONTENT_TYPES[format])).content,
          'text/event-stream': { example: EVENTS },
        },
      },
      ...WORK_FAILURES,
      415: errorResponse('The body is neither JSON nor a form'),
      500: errorResponse('The synthesis failed'),
      502: errorResponse('The upstream synthesis server failed'),
    },
  };
}
