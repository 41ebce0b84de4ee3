import type { TtsEngine } from '../../../src/contract/engines/engine.ts';
import type { ModelTable } from '../../../src/contract/model-table.ts';
import type { Route } from '../../../src/contract/route.ts';
import {
  binaryContent,
  jsonBody,
  toPlainSchema,
  WORK_FAILURES,
} from '../../../src/http/openapi/route-docs.ts';
import { route } from '../../../src/http/route.ts';
import type { SpeechRequests } from '../../../src/speak/speech-requests.ts';
import { captionedBodySchema, captionedFields } from './captioned-request.ts';
import { EVENTS, EXAMPLES } from './examples.ts';
import { CONTENT_TYPES, FORMATS } from './formats.ts';
import { CaptionedSpeech, SpeechObject } from './json-body.ts';
import { speechBodySchema, speechFormSchema } from './schema.ts';
import { validRequest } from './speech-request.ts';
import type { SpeechResponder } from './speech-responder.ts';

export interface SpeechServices {
  readonly tts: ModelTable<TtsEngine>;
  readonly requests: SpeechRequests;
  readonly responder: SpeechResponder;
}

const FAILURES = { 500: 'The synthesis failed', 502: 'The upstream synthesis server failed' };
/** The rules of the fields depend on the model: the handler validates them. */
const anyBody = (body: object | null) => body;

/**
 * POST /v1/audio/speech (spec 4.3; for models with OpenAI compatibility as at OpenAI).
 * @param maxCharacters maximum length of `input` in Unicode code points.
 */
export function speechRoutes(maxCharacters: number): readonly Route<SpeechServices>[] {
  return [
    route({
      method: 'POST',
      path: '/v1/audio/speech',
      tag: 'audio',
      summary: 'Text to speech',
      description:
        'Synthesizes speech: mono, 24 kHz. Models with OpenAI compatibility (`tts-1` and others) stream `mp3` (default), `opus` in Ogg, `aac` in ADTS, `flac`, `wav` and `pcm` during synthesis. All other models have `wav` (default), which is sent when it is complete, and `pcm` (signed 16-bit little-endian), which is streamed. With `stream_format` `sse`, the same bytes are sent in events `speech.audio.delta` (base64 in `audio`); `speech.audio.done` with the usage ends them, or an event `error` after a failure. With `timestamps` `["word"]`, events `speech.audio.words` have the time of each word in seconds.',
      body: {
        json: { schema: jsonBody(speechBodySchema(maxCharacters)), examples: EXAMPLES },
        form: speechFormSchema(maxCharacters),
        read: anyBody,
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
        415: 'The body is neither JSON nor a form',
        ...FAILURES,
      },
      async handle({ body, caller, request }, { tts, requests, responder }: SpeechServices) {
        const isForm = /^multipart\//i.test(request.headers.get('content-type') ?? '');
        const params = await validRequest(body, isForm, { tts, requests, maxCharacters }, caller);
        return await responder.respond(params, request);
      },
    }),
  ];
}

/** POST /dev/captioned_speech, as Kokoro-FastAPI has it. */
export function captionRoutes(maxCharacters: number): readonly Route<SpeechServices>[] {
  return [
    route({
      method: 'POST',
      path: '/dev/captioned_speech',
      tag: 'audio',
      summary: 'Text to speech with word times (Kokoro-FastAPI)',
      description:
        'As Kokoro-FastAPI: lines of JSON with base64 audio and the words that it contains, or one object with `stream` `false`. New clients use `timestamps` of `POST /v1/audio/speech`.',
      body: { json: { schema: jsonBody(captionedBodySchema(maxCharacters)) }, read: captionedFields },
      responses: {
        200: {
          description: 'Audio and words',
          content: {
            'application/x-ndjson': { schema: toPlainSchema(CaptionedSpeech) },
            'application/json': { schema: toPlainSchema(CaptionedSpeech) },
          },
        },
        ...WORK_FAILURES,
        ...FAILURES,
      },
      async handle({ body, caller, request }, { tts, requests, responder }: SpeechServices) {
        const { fields, isStreamed } = body;
        const params = await validRequest(fields, false, { tts, requests, maxCharacters }, caller);
        const presentation = isStreamed ? 'caption_lines' : 'captions';
        return await responder.respond({ ...params, presentation }, request);
      },
    }),
  ];
}
