/** The realtime class of the `openai` package with a function. Settings: baseURL, model, key, instructions, tool, output. */

import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { report, reportSocket, runCommands, settings } from '../bridge.mjs';
import { startMicrophone, startSpeaker } from './sound.mjs';

const client = new OpenAI({ apiKey: settings.key, baseURL: settings.baseURL });
const realtime = new OpenAIRealtimeWS(
  { model: settings.model, options: { rejectUnauthorized: false } },
  client,
);
reportSocket(realtime.socket);
const speaker = startSpeaker(() => report({ kind: 'listening' }));
let playing;
realtime.on('error', ({ message, error }) => report({ kind: 'error', message, error }));
realtime.on('event', (event) => {
  if (event.type !== 'response.output_audio.delta') report({ kind: 'event', event });
});
realtime.on('conversation.item.input_audio_transcription.completed', ({ transcript }) =>
  report({ kind: 'user', text: transcript }),
);
realtime.on('response.output_audio_transcript.done', ({ transcript }) =>
  report({ kind: 'assistant', text: transcript }),
);
realtime.on('response.output_audio.delta', ({ item_id, delta }) => {
  const pcm = Buffer.from(delta, 'base64');
  playing = item_id;
  speaker.play(pcm);
  report({ kind: 'audio', bytes: pcm.length });
});
realtime.on('input_audio_buffer.speech_started', () => {
  if (!speaker.isPlaying()) return;
  const audio_end_ms = Math.round(speaker.playedMs());
  speaker.stop();
  realtime.send({ type: 'conversation.item.truncate', item_id: playing, content_index: 0, audio_end_ms });
});
realtime.on('conversation.item.truncated', () => report({ kind: 'interrupted' }));
realtime.on('response.done', ({ response }) => {
  speaker.finish();
  const calls = response.output.filter(({ type }) => type === 'function_call');
  for (const call of calls) {
    report({ kind: 'call', name: call.name, arguments: JSON.parse(call.arguments) });
    const item = { type: 'function_call_output', call_id: call.call_id, output: settings.output };
    realtime.send({ type: 'conversation.item.create', item });
  }
  if (calls.length > 0) realtime.send({ type: 'response.create' });
});
realtime.on('session.created', () =>
  realtime.send({
    type: 'session.update',
    session: {
      ...{ type: 'realtime', instructions: settings.instructions },
      tools: [{ type: 'function', ...settings.tool }],
    },
  }),
);
realtime.on('session.updated', () => {
  const microphone = startMicrophone((frame) =>
    realtime.send({ type: 'input_audio_buffer.append', audio: frame.toString('base64') }),
  );
  report({ kind: 'open' });
  void runCommands({ say: microphone.say });
});
