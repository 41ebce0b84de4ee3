/** A voice agent of `@openai/agents-realtime` with a function. Settings: url, model, key, instructions, tool, output. */

import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime';
import WebSocket from 'ws';
import { report, reportSentFrames, runCommands, settings } from '../bridge.mjs';
import { startMicrophone, startSpeaker } from './sound.mjs';

reportSentFrames(WebSocket);
const { name, description, parameters } = settings.tool;
const agent = new RealtimeAgent({
  name: 'guide',
  instructions: settings.instructions,
  tools: [
    tool({
      ...{ name, description, parameters, strict: false },
      execute: (input) => {
        report({ kind: 'call', name, arguments: input });
        return settings.output;
      },
    }),
  ],
});
const transport = new OpenAIRealtimeWebSocket({ url: settings.url });
const session = new RealtimeSession(agent, { transport, model: settings.model, tracingDisabled: true });
const speaker = startSpeaker(() => report({ kind: 'listening' }));
session.on('error', ({ error }) =>
  report({ kind: 'error', error: error?.error ?? { message: String(error) } }),
);
session.on('audio', ({ data }) => {
  speaker.play(data);
  report({ kind: 'audio', bytes: data.byteLength });
});
session.on('audio_interrupted', () => {
  speaker.stop();
  report({ kind: 'interrupted' });
});
const reported = new Set();
session.on('history_updated', (history) => {
  for (const { itemId, type, role, status, content } of history) {
    const text = type === 'message' ? content.map((part) => part.text ?? part.transcript ?? '').join('') : '';
    if (text === '' || status === 'in_progress' || reported.has(itemId + text)) continue;
    reported.add(itemId + text);
    report({ kind: role, text });
  }
});
session.on('transport_event', (event) => {
  report({ kind: 'frame', from: 'server', frame: event });
  if (event.type === 'response.done') speaker.finish();
  if (event.type === 'error') report({ kind: 'error', error: event.error });
  if (event.type !== 'response.output_audio.delta') report({ kind: 'event', event });
});

await session.connect({ apiKey: settings.key });
const microphone = startMicrophone((frame) =>
  session.sendAudio(frame.buffer.slice(frame.byteOffset, frame.byteOffset + frame.length)),
);
report({ kind: 'open' });
await runCommands({ say: microphone.say });
