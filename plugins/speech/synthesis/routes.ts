import { Elysia } from 'elysia';
import type { Logger } from '../../../src/contract/core/logger.ts';
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
import { callerOf } from '../../../src/http/security/caller.ts';
import type { ByteBudget } from '../../../src/kit/limits/byte-budget.ts';
import type { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { captionedBodySchema, captionedFields } from './captioned-request.ts';
import { CONTENT_TYPES, FORMATS } from './formats.ts';
import { CaptionedSpeech, SpeechObject } from './openapi.ts';
import { speechBodySchema, speechFormSchema } from './schema.ts';
import { validRequest } from './speech-request.ts';
import { SpeechResponder } from './speech-responder.ts';
import { wavBudget } from './wav-body.ts';

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

/**
 * POST /v1/audio/speech (spec 4.3; for models with OpenAI compatibility as at OpenAI), and POST /dev/captioned_speech, as
 * Kokoro-FastAPI has it.
 */
export function speechRoutes({
  tts,
  requests,
  encoder,
  maxCharacters,
  log,
  maxWavS = MAX_WAV_S,
  wavs: whole = wavBudget(),
}: SpeechRoutesOptions) {
  const rules = { tts, requests, maxCharacters };
  const responder = new SpeechResponder({ requests, encoder, log, maxWavS, whole });
  return new Elysia({ name: 'speech', tags: ['audio'] })
    .post(
      '/v1/audio/speech',
      async ({ body, request }) => {
        const isForm = /^multipart\//i.test(request.headers.get('content-type') ?? '');
        const params = await validRequest(body as object | null, isForm, rules, callerOf(request));
        return await responder.respond(params, request);
      },
      { detail: documentation(maxCharacters) },
    )
    .post(
      '/dev/captioned_speech',
      async ({ body, request }) => {
        const { fields, isStreamed } = captionedFields(body as object | null);
        const params = await validRequest(fields, false, rules, callerOf(request));
        const presentation = isStreamed ? 'caption_lines' : 'captions';
        return await responder.respond({ ...params, presentation }, request);
      },
      { detail: captionsDocumentation(maxCharacters) },
    );
}

const EVENTS = `data: {"type":"speech.audio.delta","audio":"AAD//w=="}

data: {"type":"speech.audio.words","words":[{"word":"Hello","start":0.05,"end":0.35}]}

data: {"type":"speech.audio.done","usage":{"input_tokens":10,"output_tokens":61,"total_tokens":71}}

`;

const TEXT = 'Hello there, how can I help you today?';

function documentation(maxCharacters: number) {
  return {
    summary: 'Text to speech',
    description:
      'Synthesizes speech: mono, 24 kHz. Models with OpenAI compatibility (`tts-1` and others) stream `mp3` (default), `opus` in Ogg, `aac` in ADTS, `flac`, `wav` and `pcm` during synthesis. All other models have `wav` (default), which is sent when it is complete, and `pcm` (signed 16-bit little-endian), which is streamed. With `stream_format` `sse`, the same bytes are sent in events `speech.audio.delta` (base64 in `audio`); `speech.audio.done` with the usage ends them, or an event `error` after a failure. With `timestamps` `["word"]`, events `speech.audio.words` have the time of each word in seconds.',
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
            words: {
              summary: 'The audio and the time of each word in one object',
              value: { model: 'tts-1', input: TEXT, stream_format: 'json', timestamps: ['word'] },
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
          'application/json': { schema: toPlainSchema(SpeechObject) },
        },
      },
      ...WORK_FAILURES,
      415: errorResponse('The body is neither JSON nor a form'),
      500: errorResponse('The synthesis failed'),
      502: errorResponse('The upstream synthesis server failed'),
    },
  };
}

function captionsDocumentation(maxCharacters: number) {
  return {
    summary: 'Text to speech with word times (Kokoro-FastAPI)',
    description:
      'As Kokoro-FastAPI: lines of JSON with base64 audio and the words that it contains, or one object with `stream` `false`. New clients use `timestamps` of `POST /v1/audio/speech`.',
    requestBody: {
      required: true,
      content: { 'application/json': { schema: jsonBody(captionedBodySchema(maxCharacters)) } },
    },
    responses: {
      200: {
        description: 'Audio and words',
        content: {
          'application/x-ndjson': { schema: toPlainSchema(CaptionedSpeech) },
          'application/json': { schema: toPlainSchema(CaptionedSpeech) },
        },
      },
      ...WORK_FAILURES,
      500: errorResponse('The synthesis failed'),
      502: errorResponse('The upstream synthesis server failed'),
    },
  };
}
