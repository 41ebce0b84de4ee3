/** OpenAPI documentation of POST /v1/audio/transcriptions and /v1/audio/translations. */

import { Type } from '@sinclair/typebox';
import type { TranscriptionTask } from '../../../src/contract/engines/engine.ts';
import { errorResponse, toPlainSchema, WORK_FAILURES } from '../../../src/http/openapi/route-docs.ts';
import { LogprobSchema } from '../../../src/listen/logprobs.ts';
import { transcriptionFormSchema } from './schema.ts';

const seconds = (description: string, example: number) => Type.Number({ description, examples: [example] });

const TokenUsage = Type.Object({
  type: Type.Literal('tokens'),
  input_tokens: Type.Integer({ examples: [110] }),
  output_tokens: Type.Integer({ examples: [27] }),
  total_tokens: Type.Integer({ examples: [137] }),
  input_token_details: Type.Object({
    audio_tokens: Type.Integer({ examples: [110] }),
    text_tokens: Type.Integer({ description: 'Tokens of the prompt and the keywords.', examples: [0] }),
  }),
});
const DurationUsage = Type.Object({
  type: Type.Literal('duration'),
  seconds: Type.Integer({ examples: [11] }),
});

const logprobs = Type.Optional(
  Type.Array(LogprobSchema, { description: 'With `include[]=logprobs`: the tokens of the text.' }),
);

const Json = Type.Object(
  {
    text: Type.String({ examples: ['Ask not what your country can do for you.'] }),
    languages: Type.Optional(
      Type.Array(Type.Object({ code: Type.String({ examples: ['en'] }) }), {
        description: 'Spoken languages. Only of the model `gpt-transcribe`.',
      }),
    ),
    logprobs,
    usage: Type.Union([TokenUsage, DurationUsage], {
      description: 'A duration for the model `whisper-1`, otherwise tokens.',
    }),
  },
  { title: 'Transcription' },
);

const Segment = Type.Object({
  id: Type.Integer({ examples: [0] }),
  seek: Type.Integer({ description: 'Start in hundredths of a second.', examples: [0] }),
  start: seconds('Start in seconds.', 0),
  end: seconds('End in seconds.', 4.2),
  text: Type.String({ examples: ['Ask not what your country can do for you.'] }),
  tokens: Type.Array(Type.Integer()),
  temperature: Type.Number({ examples: [0] }),
  avg_logprob: Type.Number({ description: 'Mean log probability of the tokens.', examples: [-0.2] }),
  compression_ratio: Type.Number({
    description: 'A value above 2.4 indicates repetitions.',
    examples: [1.3],
  }),
  no_speech_prob: Type.Number({
    description: 'Probability that the segment contains no speech.',
    examples: [0.01],
  }),
});

const Word = Type.Object({
  word: Type.String({ examples: ['Ask'] }),
  start: seconds('Start in seconds.', 0.3),
  end: seconds('End in seconds.', 0.6),
});

const Verbose = Type.Object(
  {
    task: Type.Union([Type.Literal('transcribe'), Type.Literal('translate')]),
    language: Type.String({ description: 'English name of the language.', examples: ['english'] }),
    duration: seconds('Length of the audio in seconds.', 11),
    text: Type.String({ examples: ['Ask not what your country can do for you.'] }),
    segments: Type.Optional(Type.Array(Segment)),
    words: Type.Optional(Type.Array(Word)),
    logprobs,
    usage: DurationUsage,
  },
  { title: 'Verbose transcription' },
);

const STREAM = `data: {"type":"transcript.text.delta","delta":"Ask not"}

data: {"type":"transcript.text.done","text":"Ask not","usage":{"type":"tokens","input_tokens":11,"output_tokens":2,"total_tokens":13,"input_token_details":{"audio_tokens":11,"text_tokens":0}}}

`;

const TASKS = {
  transcribe: {
    summary: 'Speech to text',
    description: 'Transcribes a recording in its spoken language.',
  },
  translate: {
    summary: 'Speech translation to English',
    description: 'Transcribes a recording in any language to English text.',
  },
} as const;

/** The `detail` of one of the two routes. */
export function transcriptionDocumentation(task: TranscriptionTask, fileBytes: number) {
  const text = (example: string) => ({ schema: { type: 'string' as const }, example });
  return {
    ...TASKS[task],
    requestBody: {
      required: true,
      content: { 'multipart/form-data': { schema: toPlainSchema(transcriptionFormSchema(task, fileBytes)) } },
    },
    responses: {
      200: {
        description: 'The transcript in the `response_format`; with `stream`, events',
        content: {
          'application/json': { schema: toPlainSchema(Type.Union([Json, Verbose])) },
          'text/plain': text(
            '1\n00:00:00,000 --> 00:00:04,200\nAsk not what your country can do for you.\n\n',
          ),
          'text/event-stream': { example: STREAM },
        },
      },
      ...WORK_FAILURES,
      413: errorResponse(`The file is larger than ${fileBytes} bytes, or the form is too large`),
      415: errorResponse('The body is not a multipart form'),
      500: errorResponse('The transcription failed'),
      502: errorResponse('The upstream transcription server failed'),
    },
  };
}
