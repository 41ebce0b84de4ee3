/** The WebSocket of a conversation: converts frames to commands, and events to frames. */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import { newId } from '../../../src/contract/core/id.ts';
import type { ConversationModel } from '../../../src/contract/engines/conversation.ts';
import type { TtsEngine } from '../../../src/contract/engines/engine.ts';
import type { Slots } from '../../../src/contract/plugin.ts';
import { Conversation, type ResponseAudio, type Transport } from '../../../src/conversation/conversation.ts';
import { invalidRequestError } from '../../../src/conversation/events/errors.ts';
import type { ConversationEvent } from '../../../src/conversation/events/server-events.ts';
import type { CloseReason } from '../../../src/conversation/state/conversation-machine.ts';
import { TURN_STAGES, type TurnTiming } from '../../../src/conversation/turn-timings.ts';
import { CLOSE, type Socket, type SocketListener } from '../../../src/http/transport/socket.ts';
import { unixSeconds } from '../../../src/kit/clock.ts';
import { hasNamedVoice, type VoiceLookup } from '../../../src/speak/stored-voices.ts';
import { HeldFrames } from '../held-frames.ts';
import { ConnectionMetrics, type RealtimeMetrics } from '../metrics.ts';
import type { Dialect } from '../protocol/dialect.ts';
import type { ParsedEvent } from '../protocol/frame-parser.ts';
import type { VoiceLookupResult } from '../session/session.ts';
import { spokenLanguagesOf } from '../session/spoken-language.ts';
import { type OutgoingEvent, toBetaEvent } from './beta-events.ts';
import { type ConversationRequest, requestEffects, sessionParams } from './client-commands.ts';
import { type ConversationClientEvent, parseConversationFrame, voiceOfEvent } from './client-events.ts';
import {
  type ConversationSession,
  initialConversationSession,
  toWireConversationSession,
} from './session.ts';

export interface ConversationConnectionDeps
  extends Pick<
    Slots,
    'tts' | 'stt' | 'text' | 'vad' | 'turnEnd' | 'lexicons' | 'calls' | 'clock' | 'log' | 'tracer'
  > {
  readonly voices: VoiceLookup;
  readonly caller: Caller;
  readonly model: ConversationModel;
  /** Id of the request: of the model, or of a name that follows it. */
  readonly modelId: string;
  /** `spec` are the names of the beta protocol. */
  readonly dialect: Dialect;
  readonly metrics: RealtimeMetrics;
  /** Replaces the speech engine of the model for its default voice. */
  readonly fasterSpeech: TtsEngine | undefined;
  /** Called once, when everything of the connection is released. */
  readonly released: (connection: ConversationConnection) => void;
}

/** Tokens of the context that are reserved for the response, if it has no limit. */
const RESERVED_OUTPUT_TOKENS = 1024;

export class ConversationConnection implements SocketListener {
  readonly #deps: ConversationConnectionDeps;
  readonly #heldFrames: HeldFrames<ConversationClientEvent>;
  readonly #conversation: Conversation;
  readonly #metrics: ConnectionMetrics;
  #socket: Socket | undefined;
  #session: ConversationSession;

  constructor(deps: ConversationConnectionDeps) {
    this.#deps = deps;
    this.#metrics = new ConnectionMetrics(deps.metrics, deps.clock);
    const { model, modelId, clock } = deps;
    this.#session = initialConversationSession(newId('sess_'), model, unixSeconds(clock), modelId);
    this.#heldFrames = new HeldFrames({ ...deps, handle: (frame) => this.#handle(frame) });
    this.#conversation = new Conversation({
      ...deps,
      conversationId: newId('conv_'),
      settings: this.#session.settings,
      context: {
        maxPromptTokens: this.#maxPromptTokens(),
        automaticParams: (settings) => sessionParams(this.#session, settings),
      },
      transport: this.#transport(),
      maxSessionMs: deps.model.maxSessionS * 1000,
      onTurn: (timing) => this.#recordTurn(timing),
      released: () => void this.#released(),
    });
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    this.#send({ type: 'session.created', ...this.#wireSession() });
  }

  received(raw: string | Uint8Array): void {
    if (this.#socket === undefined) return;
    const frame = parseConversationFrame(raw);
    const ready = this.#heldFrames.isHolding ? this.#heldFrames.add(frame, raw.length) : frame;
    if (ready !== undefined) this.#handle(ready);
  }

  closed(): void {
    this.#socket = undefined;
    this.#conversation.transportClosed();
  }

  /** Finishes the pending work, accepts no new work, and closes. */
  drain(): void {
    this.#conversation.drain();
  }

  /** Closes and releases everything without waiting for the peer. */
  stop(): void {
    this.#socket?.close(CLOSE.goingAway, REASONS.shutting_down);
    this.closed();
  }

  #transport(): Transport {
    return {
      emit: (event) => this.#send(event),
      emitAudio: (audio) => this.#sendAudio(audio),
      ready: async (signal) => this.#socket?.ready(signal),
      close: (reason) => this.#socket?.close(CODES[reason], REASONS[reason]),
    };
  }

  #handle(frame: ParsedEvent<ConversationClientEvent>): void {
    if ('error' in frame) {
      const { message, param } = frame.error;
      this.#conversation.reject(invalidRequestError(frame.openaiCode, message, param), frame.eventId);
      return;
    }
    const { event } = frame;
    if (event.type === 'input_audio_buffer.append') {
      const error = this.#conversation.append(event.audio);
      if (error !== undefined) this.#conversation.reject(error, event.event_id ?? null);
      return;
    }
    const voiceId = voiceOfEvent(event);
    if (voiceId === undefined) this.#request(event);
    else this.#heldFrames.lookUp(voiceId, (voice) => this.#request(event, voice));
  }

  /** @param lookup result of the lookup of the stored voice that the event names. */
  #request(event: ConversationRequest, lookup?: VoiceLookupResult): void {
    const conversation = this.#conversation;
    const eventId = event.event_id ?? null;
    const { model, tts } = this.#deps;
    const { hasSpoken } = conversation;
    const hasVoice = (name: string) => hasNamedVoice(tts.get(model.tts), name);
    const spokenLanguages = spokenLanguagesOf(tts.get(model.tts));
    const context = { model, lookup, hasVoice, spokenLanguages, hasSpoken };
    const { session, errors, command } = requestEffects(this.#session, event, context);
    this.#session = session;
    for (const error of errors) conversation.reject(error, eventId);
    if (command !== undefined) conversation.command(command, eventId);
    if (event.type === 'session.update') this.#send({ type: 'session.updated', ...this.#wireSession() });
  }

  #maxPromptTokens(): number | undefined {
    const { text, model } = this.#deps;
    const contextTokens = text.get(model.llm)?.contextTokens;
    return contextTokens && contextTokens - (model.maxOutputTokens ?? RESERVED_OUTPUT_TOKENS);
  }

  #wireSession() {
    return { session: toWireConversationSession(this.#session) };
  }

  #sendAudio({ responseId, itemId, outputIndex, audio }: ResponseAudio): void {
    const place = { response_id: responseId, item_id: itemId, output_index: outputIndex, content_index: 0 };
    const delta = Buffer.from(audio.buffer, audio.byteOffset, audio.length).toString('base64');
    this.#send({ type: 'response.output_audio.delta', ...place, delta } as OutgoingEvent);
  }

  #recordTurn(timing: TurnTiming): void {
    for (const stage of TURN_STAGES) {
      const ms = timing[stage];
      if (ms !== undefined) {
        this.#deps.metrics.conversationStage.observe({ model: this.#deps.model.id, stage }, ms / 1000);
      }
    }
  }

  #send(event: OutgoingEvent | ConversationEvent): void {
    this.#metrics.recordSent(event);
    const sent = this.#deps.dialect === 'ga' ? event : toBetaEvent(event);
    if (sent !== undefined) this.#socket?.send(JSON.stringify({ event_id: newId('event_'), ...sent }));
  }

  async #released(): Promise<void> {
    await this.#heldFrames.close();
    this.#deps.released(this);
  }
}

const REASONS: Readonly<Record<CloseReason, string>> = {
  shutting_down: 'The server is shutting down.',
  internal_error: 'Internal server error.',
  expired: 'The session has expired.',
  insufficient_quota: 'The credits are used up.',
};
const CODES: Readonly<Record<CloseReason, number>> = {
  shutting_down: CLOSE.goingAway,
  internal_error: CLOSE.internalError,
  expired: CLOSE.normal,
  insufficient_quota: CLOSE.policy,
};
