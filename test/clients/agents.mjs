/** A voice agent of `@openai/agents-realtime` over a WebSocket. Asked: url, key, config. */

import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from '@openai/agents-realtime';
import WebSocket from 'ws';
import { ask, obey, tell, watchSending } from './bridge.mjs';

watchSending(WebSocket);
const agent = new RealtimeAgent({ name: 'reader', instructions: 'Read what you are given.' });
const transport = new OpenAIRealtimeWebSocket({ url: ask.url });
const session = new RealtimeSession(agent, { transport, config: ask.config, tracingDisabled: true });
session.on('error', ({ error }) =>
  tell({ kind: 'error', error: error?.error ?? { message: String(error) } }),
);
session.on('audio', ({ data, responseId }) => tell({ kind: 'audio', length: data.byteLength, responseId }));
session.on('audio_interrupted', () => tell({ kind: 'interrupted' }));
session.on('history_updated', (history) => tell({ kind: 'history', history }));
session.on('transport_event', (event) => {
  tell({ kind: 'frame', from: 'server', frame: event });
  if (event.type !== 'response.output_audio.delta') tell({ kind: 'event', event });
});
transport.on('connection_change', (status) => tell({ kind: 'connection', status }));

await session.connect({ apiKey: ask.key });
tell({ kind: 'open' });

await obey({
  message: (text) => session.sendMessage(text),
  audio: (base64) => {
    const bytes = Buffer.from(base64, 'base64');
    session.sendAudio(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  },
  event: (event) => transport.sendEvent(event),
  interrupt: () => session.interrupt(),
  close: () => session.close(),
});
