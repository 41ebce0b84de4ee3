/** All open realtime connections: limits, drain and metrics. */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { ConversationModel } from '../../src/contract/engines/conversation.ts';
import { requireModel } from '../../src/contract/model-table.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { prepareConversation } from '../../src/conversation/prepare.ts';
import { SpeechChoice } from '../../src/conversation/speech-choice.ts';
import { ByteBudget, type ByteLimits } from '../../src/kit/limits/byte-budget.ts';
import { OpenConnections } from '../../src/kit/limits/open-connections.ts';
import { Quota } from '../../src/kit/limits/quota.ts';
import type { VoiceLookup } from '../../src/speak/stored-voices.ts';
import { RealtimeConnection } from './connection.ts';
import { ConversationConnection, type ConversationConnectionDeps } from './conversation/connection.ts';
import { type RealtimeMetrics, realtimeMetrics } from './metrics.ts';
import { upgradeDialect } from './protocol/dialect.ts';
import { initialSession } from './session/session.ts';
import type { Rules } from './state/realtime-machine.ts';

/** Audio that the connections of one organization, and all connections, hold before it is transcribed. */
const AUDIO_MEMORY: ByteLimits = { bytesPerKey: 512 * 2 ** 20, totalBytes: 2 * 2 ** 30 };

export interface ConnectionRegistryDeps
  extends Pick<
    Slots,
    | 'tts'
    | 'stt'
    | 'text'
    | 'conversations'
    | 'vad'
    | 'turnEnd'
    | 'fastSpeech'
    | 'lexicons'
    | 'calls'
    | 'clock'
    | 'log'
    | 'metrics'
    | 'tracer'
  > {
  readonly voices: VoiceLookup;
  /** Maximum number of concurrent connections per organization. */
  readonly perOrganization: number;
  readonly rules: Rules;
  /** Replaced in tests. */
  readonly audioMemory?: ByteLimits;
}

export class ConnectionRegistry extends OpenConnections<RealtimeConnection | ConversationConnection> {
  readonly #deps: ConnectionRegistryDeps;
  readonly #metrics: RealtimeMetrics;
  readonly #audioMemory: ByteBudget;
  /** Conversations per model. */
  readonly #conversations: ReadonlyMap<string, Quota>;
  /** By conversation model. */
  readonly #speechChoices = new Map<string, SpeechChoice>();

  constructor(deps: ConnectionRegistryDeps) {
    super('realtime connections', deps.perOrganization);
    this.#deps = deps;
    this.#metrics = realtimeMetrics(deps.metrics);
    this.#audioMemory = audioBudget(deps.audioMemory ?? AUDIO_MEMORY);
    this.#conversations = new Map(
      deps.conversations.ids.map((name) => {
        const { id, sessionsPerOrganization: perOrganization } = requireModel(deps.conversations, name);
        return [id, new Quota('conversations', { perOrganization })];
      }),
    );
    deps.metrics.gauge('realtime_open_connections', 'WebSockets at /v1/realtime', () => this.count);
  }

  /**
   * Creates a connection for a request that is about to be upgraded. Call its `closed` if the upgrade fails.
   * @throws ServiceError `rate_limited` if the organization has too many open connections; `invalid_request`
   *   for an unknown value of `events`.
   */
  open(
    caller: Caller,
    query: URLSearchParams,
    headers: Headers,
  ): RealtimeConnection | ConversationConnection {
    const { rules, conversations } = this.#deps;
    const { dialect, fixed } = upgradeDialect(query, headers);
    const model = conversationModel(conversations, query);
    // Conversations have the names of OpenAI's current protocol, unless the client selects others.
    if (model !== undefined) {
      const modelId = query.get('model') ?? model.id;
      return this.#openConversation(caller, { model, modelId, dialect: fixed ? dialect : 'ga' });
    }
    return this.openConnection(
      caller,
      (released) =>
        new RealtimeConnection({
          ...this.#deps,
          metrics: this.#metrics,
          audioMemory: this.#audioMemory.openShare(caller.organization),
          caller,
          initialState: {
            session: initialSession(newId('sess_'), rules, query),
            dialect,
            dialectFixed: fixed,
            conversationId: newId('conv_'),
          },
          released,
        }),
    );
  }
  /**
   * Loads the models of a conversation, if the request is for one, and prepares the language model for its instructions.
   * @throws ServiceError `overloaded` (`model_loading`) while a model is loading.
   */
  async prepare(caller: Caller, query: URLSearchParams, signal: AbortSignal): Promise<void> {
    const model = conversationModel(this.#deps.conversations, query);
    if (model === undefined) return;
    await prepareConversation(model, this.#deps, caller, signal);
    if (model.choosesSpeech) await this.#chooseSpeech(model);
  }

  async #chooseSpeech(model: ConversationModel): Promise<void> {
    const { tts, text } = this.#deps;
    const engines = { tts: requireModel(tts, model.tts), text: requireModel(text, model.llm) };
    const choice =
      this.#speechChoices.get(model.id) ?? new SpeechChoice({ ...this.#deps, ...engines, model: model.id });
    this.#speechChoices.set(model.id, choice);
    await choice.measure();
  }

  #openConversation(
    caller: Caller,
    request: Pick<ConversationConnectionDeps, 'model' | 'modelId' | 'dialect'>,
  ): ConversationConnection {
    const { model } = request;
    const release = this.#conversations.get(model.id)?.acquire(caller);
    const open = (released: (connection: ConversationConnection) => void) =>
      new ConversationConnection({
        ...this.#deps,
        ...request,
        caller,
        metrics: this.#metrics,
        fasterSpeech: this.#speechChoices.get(model.id)?.fasterEngine,
        released(connection) {
          release?.();
          released(connection);
        },
      });
    try {
      return this.openConnection(caller, open) as ConversationConnection;
    } catch (error) {
      release?.();
      throw error;
    }
  }
}

/** The conversation model of a request. With OpenAI's `intent=transcription`, a session only transcribes, whatever its model. */
function conversationModel(
  conversations: Slots['conversations'],
  query: URLSearchParams,
): ConversationModel | undefined {
  return query.get('intent') === 'transcription' ? undefined : conversations.get(query.get('model') ?? '');
}

function audioBudget(limits: ByteLimits): ByteBudget {
  const retry = 'Retry after the next conversation.item.input_audio_transcription.completed event.';
  return new ByteBudget(limits, {
    overKeyLimit: (bytes) =>
      new Error(
        `The realtime connections of this organization hold at most ${bytes} bytes of audio. ${retry}`,
      ),
    overTotalLimit: () => new Error(`The realtime connections of the service hold too much audio. ${retry}`),
  });
}
