/** A realtime class of the `openai` package. Settings: module, baseURL, key, props, types (of the reported events). */

import OpenAI from 'openai';
import { report, reportSocket, runCommands, settings } from './bridge.mjs';

const CLASSES = {
  'openai/realtime/ws': 'OpenAIRealtimeWS',
  'openai/realtime/websocket': 'OpenAIRealtimeWebSocket',
  'openai/beta/realtime/ws': 'OpenAIRealtimeWS',
  'openai/beta/realtime/websocket': 'OpenAIRealtimeWebSocket',
};

const Realtime = (await import(settings.module))[CLASSES[settings.module]];
const client = new OpenAI({ apiKey: settings.key, baseURL: settings.baseURL });
const realtime = new Realtime(settings.props, client);
realtime.on('error', ({ message, error }) => report({ kind: 'error', message, error }));
for (const type of settings.types) realtime.on(type, (event) => report({ kind: 'event', event }));
reportSocket(realtime.socket);

await runCommands({
  send: (event) => realtime.send(event),
  close: () => realtime.close(),
});
