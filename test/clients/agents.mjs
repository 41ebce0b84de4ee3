/** A voice agent of `@openai/agents-realtime` over a WebSocket. Settings: url, key, config. */

import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from '@openai/agents-realtime';
import WebSocket from 'ws';
import { report, reportSentFrames, runCommands, settings } from './bridge.mjs';

reportSentFrames(WebSocket);
const agent = new RealtimeAgent({ name: 'reader', instructions: 'Read what you are given.' });
const transport = new OpenAIRealtimeWebSocket({ url: settings.url });
const session = new RealtimeSession(agent, { transport, config: settings.config, tracingDisabled: true });
session.on('error', ({ error }) =>
  report({ kind: 'error', error: error?.error ?? { message: String(error) } }),
);
session.on('audio', ({ data, responseId }) => report({ kind: 'audio', length: data.byteLength, responseId }));
session.on('audio_interrupted', () => report({ kind: 'interrupted' }));
session.on('history_updated', (history) => report({ kind: 'history', history }));
session.on('transport_event', (event) => {
  report({ kind: 'frame', from: 'server', frame: event });
  if (event.type !== 'response.output_audio.delta') report({ kind: 'event', event });
});
transport.on('connection_change', (status) => report({ kind: 'connection', status }));

await session.connect({ apiKey: settings.key });
report({ kind: 'open' });

await runCommands({
  message: (text) => session.sendMessage(text),
  audio: (base64) => {
    const bytes = Buffer.from(base64, 'base64');
    session.sendAudio(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  },
  event: (event) => transport.sendEvent(event),
  interrupt: () => session.interrupt(),
  close: () => session.close(),
});
