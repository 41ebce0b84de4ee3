/** Documentation of transcripts: their schemas, and an example of the events. */

import { Type } from '@sinclair/typebox';
import { LogprobSchema } from '../../../src/listen/logprobs.ts';

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

/** The transcript as JSON. */
export const Json = Type.Object(
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

/** The transcript with its segments and words. */
export const Verbose = Type.Object(
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

/** The events of a transcription. */
export const STREAM = `data: {"type":"transcript.text.delta","delta":"Ask not"}

data: {"type":"transcript.text.done","text":"Ask not","usage":{"type":"tokens","input_tokens":11,"output_tokens":2,"total_tokens":13,"input_token_details":{"audio_tokens":11,"text_tokens":0}}}

`;
