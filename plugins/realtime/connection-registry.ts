/** All open realtime connections: limits, drain and metrics. */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { ConversationModel } from '../../src/contract/engines/conversation.ts';
import { requireModel } from '../../src/contract/model-table.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { onceLoaded, prepareConversation } from '../../src/conversation/prepare.ts';
import { SpeechChoice } from '../../src/conversation/speech-choice.ts';
import { ByteBudget, type ByteLimits } from '../../src/kit/limits/byte-budget.ts';
import { OpenConnections } from '../../src/kit/limits/open-connections.ts';
import { Quota } from '../../src/kit/limits/quota.ts';
import { logFailure } from '../../src/kit/logging/log-failure.ts';
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
  readonly #closing = new AbortController();

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
   * Creates a connection for a request that is about to be upgraded. Call its `closed` if the upgrade fails. For a conversation, it
   * first loads the models and prepares the language model for its instructions.
   * @throws ServiceError `rate_limited` if the organization has too many open connections; `invalid_request`
   *   for an unknown value of `events`; `overloaded` while a model is loading (`model_loading`) or during a shutdown; the
   *   signal's reason after an abort.
   */
  async open(
    caller: Caller,
    query: URLSearchParams,
    headers: Headers,
    signal: AbortSignal,
  ): Promise<RealtimeConnection | ConversationConnection> {
    const { rules, conversations } = this.#deps;
    const { dialect, fixed } = upgradeDialect(query, headers);
    const model = conversationModel(conversations, query);
    if (model !== undefined) {
      const modelId = query.get('model') ?? model.id;
      // Conversations have the names of OpenAI's current protocol, unless the client selects others.
      const request = { model, modelId, dialect: fixed ? dialect : 'ga' } as const;
      return this.#openConversation(caller, request, signal);
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
   * Prepares the required conversation models in the background, so that the first session does not wait: their language model is
   * loaded, and the speech model is chosen.
   */
  prepareRequired(): void {
    const { conversations } = this.#deps;
    const models = new Set(conversations.ids.flatMap((id) => conversations.get(id) ?? []));
    for (const model of models) if (model.isRequired) void this.#prepareInBackground(model);
  }

  async #prepareInBackground(model: ConversationModel): Promise<void> {
    const { log } = this.#deps;
    const { signal } = this.#closing;
    const fields = { model: model.id };
    try {
      await onceLoaded(() => prepareConversation(model, this.#deps, { keyId: 'start' }, signal), signal);
      await this.#speechChoice(model)?.prepare();
      log.info('prepared a conversation model', fields);
    } catch (error) {
      // The first session tries again.
      if (!signal.aborted) logFailure(log, 'the preparation of a conversation model failed', error, fields);
    }
  }

  /** Undefined if sessions of the model keep its speech engine. */
  #speechChoice(model: ConversationModel): SpeechChoice | undefined {
    if (!model.choosesSpeech) return undefined;
    const { tts, text } = this.#deps;
    const engines = { tts: requireModel(tts, model.tts), text: requireModel(text, model.llm) };
    const choice =
      this.#speechChoices.get(model.id) ??
      new SpeechChoice({ ...this.#deps, ...engines, model: model.id, signal: this.#closing.signal });
    this.#speechChoices.set(model.id, choice);
    return choice;
  }

  async #openConversation(
    caller: Caller,
    request: Pick<ConversationConnectionDeps, 'model' | 'modelId' | 'dialect'>,
    signal: AbortSignal,
  ): Promise<ConversationConnection> {
    const { model } = request;
    // Released with the connection, or after an error.
    const held = new DisposableStack();
    try {
      // The limits apply before the preparation, which occupies the language model.
      held.defer(this.#conversations.get(model.id)?.acquire(caller) ?? (() => undefined));
      const place = held.adopt(this.reserve(caller), (reserved) => reserved.release());
      await prepareConversation(model, this.#deps, caller, signal);
      const speech = await this.#speechChoice(model)?.choose(signal);
      held.defer(() => speech?.release());
      return place.open(
        (released) =>
          new ConversationConnection({
            ...this.#deps,
            ...request,
            caller,
            metrics: this.#metrics,
            fasterSpeech: speech?.fasterEngine,
            released(connection) {
              held.dispose();
              released(connection);
            },
          }),
      ) as ConversationConnection;
    } catch (error) {
      held.dispose();
      throw error;
    }
  }

  /** Stops all connections and preparations. */
  override close(): Promise<void> {
    this.#closing.abort();
    return super.close();
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
