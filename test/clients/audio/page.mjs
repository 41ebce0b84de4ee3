/** Runs in a web page of another origin, with the `openai` package for Node. */

import OpenAI, { toFile } from 'openai';

globalThis.roundTrip = async ({ key, baseURL, speech, voice, text, transcription }) => {
  const client = new OpenAI({ apiKey: key, baseURL, maxRetries: 0, dangerouslyAllowBrowser: true });
  const spoken = await client.audio.speech.create({ model: speech, voice, input: text });
  const recording = await spoken.arrayBuffer();
  const file = await toFile(recording, 'speech.mp3');
  const heard = await client.audio.transcriptions.create({ model: transcription, file });
  return { bytes: recording.byteLength, text: heard.text, requestId: heard._request_id };
};
