import { onTestFinished } from 'vitest';
import { ConnectionRegistry } from '../../plugins/realtime/connection-registry.ts';
import { REALTIME_ROUTES } from '../../plugins/realtime/routes.ts';
import { transcriptionNames } from '../../plugins/realtime/session/transcription-models.ts';
import type { Id } from '../../src/contract/core/id.ts';
import type { ConversationModel } from '../../src/contract/engines/conversation.ts';
import type { SttEngine, TtsEngine, VadEngine } from '../../src/contract/engines/engine.ts';
import type { TextEngine } from '../../src/contract/engines/text.ts';
import type { TurnEndDetector } from '../../src/contract/engines/turn-end.ts';
import type { ModelTable } from '../../src/contract/model-table.ts';
import type { LexiconEntry } from '../../src/contract/stores/lexicon-store.ts';
import { bind } from '../../src/http/route.ts';
import { withRoutableUrl } from '../../src/http/transport/address.ts';
import { type ConnectionServer, setServerOf } from '../../src/http/transport/connection-server.ts';
import { socketHandler } from '../../src/http/transport/socket.ts';
import type { ByteLimits } from '../../src/kit/limits/byte-budget.ts';
import { noopTracer } from '../../src/kit/logging/spans.ts';
import type { VoiceLookup } from '../../src/speak/stored-voices.ts';
import { RealtimeClient, type RealtimeClientOptions } from '../../tools/harness/clients/realtime-client.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../tools/harness/doubles/recorded-calls.ts';
import type { Certificate } from '../../tools/harness/servers/certificate.ts';
import { fakeLexicons } from '../doubles/fake-lexicons.ts';
import { FakeTurnEnd } from '../doubles/fake-turn-end.ts';
import { spokenVoice } from '../media/spoken-voice.ts';
import { KEY_A, type TestAppOptions, testApp } from './test-app.ts';

export interface RealtimeAppParts {
  readonly stt: SttEngine;
  readonly tts: TtsEngine;
  readonly vad: VadEngine;
  /** Default: every pause ends a turn. */
  readonly turnEnd?: TurnEndDetector;
  /** Language model of the conversation model `svc-voice`; absent: none. */
  readonly text?: TextEngine;
  /** Replaces settings of the conversation model. */
  readonly conversation?: Partial<ConversationModel>;
  /** The faster speech model. Default: cannot be opened. */
  readonly fastSpeech?: TtsEngine;
  /** Ids of the transcription engine. Default: `svc-stt`. */
  readonly sttIds?: readonly string[];
  readonly perOrganization?: number;
  readonly audioMemory?: ByteLimits;
  readonly maxTextCharacters?: number;
  /** Default: every well-formed id exists. */
  readonly voices?: VoiceLookup;
  /** Entries of the pronunciation lexicon of organization `a`. */
  readonly lexicon?: readonly LexiconEntry[];
  readonly billing?: RecordedCallsOptions;
  /** Serves with TLS. */
  readonly tls?: Certificate;
  /** Options of the app around the plugin. */
  readonly app?: Omit<TestAppOptions, 'routes'>;
}

const ANY_VOICE: VoiceLookup = {
  find: async (id) =>
    id.startsWith('tts-vc-voice_') ? spokenVoice({ id: id as Id<'tts-vc-voice_'> }) : undefined,
  findSimilar: async () => undefined,
};

const NO_TABLE = { ids: [], get: () => undefined };

/** A conversation model with the engines of the app. */
export const CONVERSATION: ConversationModel = {
  id: 'svc-voice',
  stt: 'svc-stt',
  llm: 'llm',
  tts: 'svc-tts',
  instructions: 'Be brief.',
  guardsInterruptions: false,
  preparesReplies: true,
  choosesSpeech: false,
  voice: undefined,
  turnDetection: 'server_vad',
  language: undefined,
  temperature: undefined,
  maxOutputTokens: undefined,
  reasoningEffort: undefined,
  fallbackMessage: undefined,
  maxSessionS: 3600,
  sessionsPerOrganization: 100,
  isRequired: false,
  maxToolOutputCharacters: 20_000,
  ready: () => ({ ready: true }),
};

/** The app with the realtime plugin and the given engines, on a real port. */
export function realtimeApp({
  stt,
  tts,
  vad,
  turnEnd = new FakeTurnEnd(),
  voices = ANY_VOICE,
  lexicon,
  sttIds = ['svc-stt'],
  perOrganization = 100,
  audioMemory,
  billing,
  text,
  conversation,
  fastSpeech,
  tls,
  ...more
}: RealtimeAppParts) {
  const all = <Engine>(ids: readonly string[], engine: Engine): ModelTable<Engine> => ({
    ids,
    get: (requested) => (ids.includes(requested) ? engine : undefined),
  });
  const only = <Engine>(id: string, engine: Engine) => all([id], engine);
  const calls = new RecordedCalls(billing);
  const bare = testApp();
  const { clock, log, metrics } = bare;
  const connections = new ConnectionRegistry({
    stt: all(sttIds, stt),
    tts: only('svc-tts', tts),
    text: text === undefined ? NO_TABLE : only('llm', text),
    conversations:
      text === undefined
        ? NO_TABLE
        : all(['svc-voice', 'gpt-realtime'], { ...CONVERSATION, ...conversation }),
    vad,
    turnEnd,
    fastSpeech: { open: async () => fastSpeech ?? Promise.reject(new Error('there is one speech model')) },
    voices,
    lexicons: fakeLexicons(lexicon),
    calls,
    clock,
    log,
    metrics,
    tracer: noopTracer,
    perOrganization,
    ...(audioMemory !== undefined && { audioMemory }),
    rules: {
      sttModels: transcriptionNames({ ids: sttIds }),
      ttsModels: ['svc-tts'],
      defaultSttModel: 'svc-stt',
      defaultTtsModel: 'svc-tts',
      languagesOf: () => stt.languages,
      maxTextCharacters: more.maxTextCharacters ?? 5000,
    },
  });
  const { app, close } = testApp({ ...more.app, routes: [bind(REALTIME_ROUTES, { connections })] });
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    ...(tls !== undefined && { tls }),
    fetch(request, listener) {
      setServerOf(listener as unknown as ConnectionServer, request);
      return app.fetch(withRoutableUrl(request));
    },
    websocket: socketHandler,
  });
  const url = `${tls === undefined ? 'ws' : 'wss'}://127.0.0.1:${server.port}/v1/realtime`;
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
