/** Examples of POST /v1/audio/speech. */

/** Events with `stream_format` `sse`. */
export const EVENTS = `data: {"type":"speech.audio.delta","audio":"AAD//w=="}

data: {"type":"speech.audio.words","words":[{"word":"Hello","start":0.05,"end":0.35}]}

data: {"type":"speech.audio.done","usage":{"input_tokens":10,"output_tokens":61,"total_tokens":71}}

`;

const TEXT = 'Hello there, how can I help you today?';

/** Request bodies by name. */
export const EXAMPLES = {
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
};
