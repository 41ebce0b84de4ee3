/** A realtime class of the `openai` package. Asked: module, baseURL, key, props, types of events to listen for. */

import OpenAI from 'openai';
import { ask, obey, tell, watch } from './bridge.mjs';

const CLASSES = {
  'openai/realtime/ws': 'OpenAIRealtimeWS',
  'openai/realtime/websocket': 'OpenAIRealtimeWebSocket',
  'openai/beta/realtime/ws': 'OpenAIRealtimeWS',
  'openai/beta/realtime/websocket': 'OpenAIRealtimeWebSocket',
};

const Realtime = (await import(ask.module))[CLASSES[ask.module]];
const client = new OpenAI({ apiKey: ask.key, baseURL: ask.baseURL });
const realtime = new Realtime(ask.props, client);
realtime.on('error', ({ message, error }) => tell({ kind: 'error', message, error }));
for (const type of ask.types) realtime.on(type, (event) => tell({ kind: 'event', event }));
watch(realtime.socket);

await obey({
  send: (event) => realtime.send(event),
  close: () => realtime.close(),
});
