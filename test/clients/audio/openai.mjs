/** Speech and transcription with the `openai` package for Node. Settings on the command line, one JSON line per result. */

import OpenAI, { toFile } from 'openai';
import { report, settings } from './bridge.mjs';

const client = new OpenAI({ apiKey: settings.key, baseURL: settings.baseURL, maxRetries: 0 });
const speech = { model: settings.speech, voice: settings.voice, input: settings.text };

const recording = new Uint8Array(await (await client.audio.speech.create(speech)).arrayBuffer());
report('speech', { bytes: recording.length });

const streamed = await client.audio.speech.create({ ...speech, response_format: 'pcm' });
let bytes = 0;
for await (const chunk of streamed.body) bytes += chunk.length;
report('streamed speech', { seconds: bytes / 2 / 24_000 });

const transcribe = async (fields) =>
  client.audio.transcriptions.create({
    ...{ model: settings.transcription, file: await toFile(recording, 'speech.mp3') },
    ...fields,
  });
report('json', { text: (await transcribe()).text });
const verbose = await transcribe({
  response_format: 'verbose_json',
  timestamp_granularities: ['word', 'segment'],
});
report('verbose_json', {
  text: verbose.text,
  language: verbose.language,
  words: verbose.words.map(({ word }) => word),
  segments: verbose.segments.length,
});
report('text', { text: await transcribe({ response_format: 'text' }) });
report('srt', { text: await transcribe({ response_format: 'srt' }) });
report('vtt', { text: await transcribe({ response_format: 'vtt' }) });
const events = [];
for await (const event of await transcribe({ stream: true })) events.push(event);
report('stream', {
  text: events.map(({ type, delta }) => (type === 'transcript.text.delta' ? delta : '')).join(''),
  last: events.at(-1).type,
});
const file = await toFile(recording, 'speech.mp3');
const translation = await client.audio.translations.create({ model: settings.transcription, file });
report('translation', { text: translation.text });
