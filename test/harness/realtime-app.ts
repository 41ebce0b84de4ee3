import { onTestFinished } from 'vitest';
import { ConnectionRegistry } from '../../plugins/realtime/connection-registry.ts';
import { realtimeRoutes } from '../../plugins/realtime/routes.ts';
import type { Id } from '../../src/contract/core/id.ts';
import type { SttEngine, TtsEngine, VadEngine } from '../../src/contract/engines/engine.ts';
import type { ModelTable } from '../../src/contract/model-table.ts';
import { type ConnectionServer, setServerOf } from '../../src/http/transport/connection-server.ts';
import { socketHandler } from '../../src/http/transport/socket.ts';
import { noopTracer } from '../../src/kit/logging/spans.ts';
import type { StoredVoices } from '../../src/speak/stored-voices.ts';
import { RealtimeClient, type RealtimeClientOptions } from '../../tools/harness/clients/realtime-client.ts';
import { spokenVoice } from '../media/spoken-voice.ts';
import { RecordedCalls, type RecordedCallsOptions } from './recorded-calls.ts';
import { KEY_A, testApp } from './test-app.ts';

export interface RealtimeAppParts {
  readonly stt: SttEngine;
  readonly tts: TtsEngine;
  readonly vad: VadEngine;
  readonly perOrganization?: number;
  readonly maxTextCharacters?: number;
  /** Default: every well-formed id exists. */
  readonly voices?: Pick<StoredVoices, 'find'>;
  readonly billing?: RecordedCallsOptions;
}

const ANY_VOICE: Pick<StoredVoices, 'find'> = {
  find: async (id) => (id.startsWith('tts-vc-voice_') ? spokenVoice({ id: id as Id<'voice'> }) : undefined),
};

/** The app with the realtime plugin and the given engines, on a real port. */
export function realtimeApp({
  stt,
  tts,
  vad,
  voices = ANY_VOICE,
  perOrganization = 100,
  billing,
  ...more
}: RealtimeAppParts) {
  const only = <Engine>(id: string, engine: Engine): ModelTable<Engine> => ({
    ids: [id],
    get: (requested) => (requested === id ? engine : undefined),
  });
  const calls = new RecordedCalls(billing);
  const bare = testApp();
  const { clock, log, metrics } = bare;
  const connections = new ConnectionRegistry({
    stt: only('svc-stt', stt),
    tts: only('svc-tts', tts),
    vad,
    voices,
    calls,
    clock,
    log,
    metrics,
    tracer: noopTracer,
    perOrganization,
    rules: {
      sttModels: ['svc-stt'],
      ttsModels: ['svc-tts'],
      defaultSttModel: 'svc-stt',
      defaultTtsModel: 'svc-tts',
      languagesOf: () => stt.languages,
      maxTextCharacters: more.maxTextCharacters ?? 5000,
    },
  });
  const { app, close } = testApp({ routes: [realtimeRoutes(connections)] });
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request, listener) {
      setServerOf(listener as unknown as ConnectionServer, request);
      return app.fetch(request);
    },
    websocket: socketHandler,
  });
  const url = `ws://127.0.0.1:${server.port}/v1/realtime`;
  return {
    rows: calls.rows,
    calls,
    connections,
    clock,
    log,
    url,
    /** Opens a client. Tests close it; {@link stop} closes remaining connections. */
    connect: (query = '', options: RealtimeClientOptions = {}) =>
      RealtimeClient.connect(`${url}${query}`, {
        ...options,
        headers: { authorization: `Bearer ${KEY_A}`, ...options.headers },
      }),
    async stop() {
      await connections.close();
      await server.stop(true);
      bare.close();
      close();
    },
  };
}

/** {@link realtimeApp} that stops at the end of the test. */
export function realtimeAppOfTest(parts: RealtimeAppParts) {
  const app = realtimeApp(parts);
  onTestFinished(() => app.stop());
  return app;
}
