/**
 * A spoken conversation with a language model, over any transport. It converts audio and commands to events of the state machine
 * and performs its effects, in order and without waiting.
 */

import type { Caller } from '../contract/accounts/caller.ts';
import { type Id, newId } from '../contract/core/id.ts';
import type { ConversationModel } from '../contract/engines/conversation.ts';
import type { TtsEngine } from '../contract/engines/engine.ts';
import type { Slots } from '../contract/plugin.ts';
import { MachineRunner } from '../kit/async/machine-runner.ts';
import { logFailure } from '../kit/logging/log-failure.ts';
import type { VoiceLookup } from '../speak/stored-voices.ts';
import { type ConversationError, invalidRequestError } from './events/errors.ts';
import type { ConversationEvent, ConversationEventOf } from './events/server-events.ts';
import { type UserEvent, UserTurns } from './input/user-turns.ts';
import { promptMessages } from './items/prompt.ts';
import { Playback } from './playback.ts';
import { PromptCache } from './prompt-cache.ts';
import { Replies } from './reply/replies.ts';
import { type ConversationSettings, MAX_BUFFERED_BYTES } from './settings.ts';
import {
  type CloseReason,
  type Command,
  type Context,
  type Effect,
  type Event,
  expectedRequest,
  initial,
  next,
  promptStart,
  type ReplyEvent,
  type State,
} from './state/conversation-machine.ts';
import type { ResponseState } from './state/response.ts';
import { type TurnTiming, TurnTimings } from './turn-timings.ts';

/** Minimum length of committed audio in ms. */
const MIN_COMMIT_MS = 100;

/** Audio of a response, in its output format. */
export interface ResponseAudio {
  readonly responseId: Id<'resp_'>;
  readonly itemId: Id<'item_'>;
  readonly outputIndex: number;
  readonly audio: Uint8Array;
}

/** Connection to the client. */
export interface Transport {
  emit(event: ConversationEvent): void;
  emitAudio(audio: ResponseAudio): void;
  /**
   * Resolves when the client can receive more audio.
   * @throws the reason of the signal after an abort.
   */
  ready(signal: AbortSignal): Promise<void>;
  /** Ends the connection. The owner then calls {@link Conversation.transportClosed}. */
  close(reason: CloseReason): void;
}

export interface ConversationDeps
  extends Pick<
    Slots,
    'text' | 'tts' | 'stt' | 'vad' | 'turnEnd' | 'lexicons' | 'calls' | 'clock' | 'log' | 'tracer'
  > {
  readonly voices: VoiceLookup;
  readonly caller: Caller;
  readonly model: ConversationModel;
  /** Replaces the speech engine of the model for its default voice. */
  readonly fasterSpeech: TtsEngine | undefined;
  readonly conversationId: Id<'conv_'>;
  readonly settings: ConversationSettings;
  readonly context: Omit<Context, 'freshResponseId'>;
  readonly transport: Transport;
  /** Maximum duration of the session in ms. */
  readonly maxSessionMs: number;
  /** Called with the times of each turn, when its response ends. */
  readonly onTurn: (timing: TurnTiming) => void;
  /** Called once, when everything of the conversation is released. */
  readonly released: () => void;
}

export class Conversation {
  readonly #deps: ConversationDeps;
  readonly #machine: MachineRunner<State, Event, Effect>;
  readonly #userTurns: UserTurns;
  readonly #replies: Replies;
  readonly #promptCache: PromptCache;
  readonly #playback: Playback;
  readonly #timings: TurnTimings;
  readonly #expiry: ReturnType<typeof setTimeout>;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #isInputStopped = false;
  #hasFailed = false;

  constructor(deps: ConversationDeps) {
    this.#deps = deps;
    this.#machine = new MachineRunner<State, Event, Effect>({
      initial: initial(deps.conversationId, deps.settings),
      next: (state, event) => next(state, event, this.#context()),
      perform: (effect) => this.#perform(effect),
      failed: (error) => this.#handleError(error),
    });
    this.#playback = new Playback(deps.clock);
    this.#timings = new TurnTimings({ ...deps, attributes: { model: deps.model.id } });
    this.#userTurns = new UserTurns(
      {
        ...deps,
        model: deps.model.stt,
        guardsInterruptions: deps.model.guardsInterruptions,
        playback: this.#playback,
        interruptibleMs: () => this.#interruptibleMs(),
        report: (event) => this.#reported(event),
        onPreview: (itemId, transcript) => this.#prepareReply(itemId, transcript),
        onPreviewRevoked: () => this.#replies.discardPrepared(),
        onTurnEnd: (itemId, speechEndMs) => this.#timings.endTurn(itemId, speechEndMs),
      },
      deps.settings,
    );
    this.#replies = new Replies({
      ...deps,
      ready: (signal) => deps.transport.ready(signal),
      report: (responseId, event) => this.#replied(responseId, event),
      onFirstToken: (responseId, atMs) => this.#timings.receiveToken(responseId, atMs),
      onError: (error) => logFailure(deps.log, 'reply failed', error, { request_id: deps.caller.requestId }),
    });
    this.#promptCache = new PromptCache(deps, {
      messages: promptMessages(deps.settings.instructions, []),
      tools: deps.settings.tools,
    });
    this.#expiry = setTimeout(() => this.#machine.dispatch({ kind: 'expired' }), deps.maxSessionMs);
  }

  get settings(): ConversationSettings {
    return this.#machine.state.settings;
  }

  /** Whether the assistant has spoken, after which its voice is fixed. */
  get hasSpoken(): boolean {
    return this.#playback.hasStarted;
  }

  /** @param eventId `event_id` of the client event, for errors. */
  command(command: Command, eventId: string | null): void {
    this.#machine.dispatch({ kind: 'command', command, eventId });
    if (command.kind === 'update_settings') this.#evaluatePrompt();
  }

  /** Reports an error for a client event that is not a command. */
  reject(error: ConversationError, eventId: string | null): void {
    this.#machine.dispatch({ kind: 'rejected', error, eventId });
  }

  /** Appends audio in the input format. @returns an error if it is not accepted. */
  append(bytes: Uint8Array): ConversationError | undefined {
    if (this.#isInputStopped) return undefined;
    return this.#userTurns.append(bytes) ? undefined : BUFFER_FULL;
  }

  /** Finishes the pending work, accepts no new work, and closes the transport. */
  drain(): void {
    this.#machine.dispatch({ kind: 'drain_requested' });
  }

  /** The transport is closed. Releases everything. */
  transportClosed(): void {
    this.#machine.dispatch({ kind: 'transport_closed' });
  }

  #context(): Context {
    return { ...this.#deps.context, freshResponseId: newId('resp_') };
  }

  #reported(event: UserEvent): void {
    const isStart = event.kind === 'speech_started';
    this.#machine.dispatch(isStart ? { ...event, unplayedMs: this.#playback.aheadMs } : event);
    // Everything before the words of the user is known while the user speaks.
    if (isStart) this.#evaluatePrompt();
  }

  #evaluatePrompt(): void {
    const prompt = promptStart(this.#machine.state, this.#context());
    if (prompt !== undefined) this.#promptCache.evaluate(prompt);
  }

  /** Starts the reply to a turn that has probably ended. It is discarded if the user continues. */
  #prepareReply(itemId: Id<'item_'>, transcript: string): void {
    if (!this.#deps.model.preparesReplies) return;
    const request = expectedRequest(this.#machine.state, itemId, transcript, this.#context());
    if (request === undefined) this.#replies.discardPrepared();
    else this.#replies.prepare(request);
  }

  #replied(responseId: Id<'resp_'>, event: ReplyEvent): void {
    this.#machine.dispatch({ kind: 'reply', responseId, event });
    if (event.kind !== 'clause') return;
    const outputs = this.#response(responseId)?.outputs ?? [];
    const message = outputs.find(({ kind }) => kind === 'message');
    if (message?.kind === 'message') this.#playback.addWords(message.itemId, event.words);
  }

  /** A response in progress. */
  #response(responseId: Id<'resp_'>): ResponseState | undefined {
    return this.#machine.state.responses.find(({ id }) => id === responseId);
  }

  /** Speech of the assistant that the user would interrupt, in ms. */
  #interruptibleMs(): number {
    const { aheadMs } = this.#playback;
    const isSpeaking = this.#machine.state.responses.some(({ outputs }) =>
      outputs.some((output) => output.kind === 'message' && output.audioMs > 0),
    );
    return isSpeaking && aheadMs > 0 ? Number.POSITIVE_INFINITY : aheadMs;
  }

  #perform(effect: Effect): void {
    const { transport } = this.#deps;
    switch (effect.kind) {
      case 'emit':
        this.#emit(effect.event);
        break;
      case 'emit_audio':
        this.#emitAudio(effect);
        break;
      case 'configure_input':
        this.#userTurns.configure(effect.settings);
        break;
      case 'commit_input':
        this.#commit(effect.eventId);
        break;
      case 'clear_input':
        this.#userTurns.clear();
        break;
      case 'stop_input':
        this.#isInputStopped = true;
        this.#userTurns.stop();
        break;
      case 'transcribe':
        this.#userTurns.transcribe(effect.itemId);
        break;
      case 'start_reply':
        this.#replies.start(effect.responseId, effect.request);
        break;
      case 'stop_reply':
        this.#replies.stop(effect.responseId);
        break;
      case 'stop_playback':
        this.#playback.stop();
        break;
      case 'start_idle_timer':
        this.#startIdleTimer(effect.timeoutMs);
        break;
      case 'stop_idle_timer':
        clearTimeout(this.#idleTimer);
        break;
      case 'close':
        transport.close(effect.reason);
        break;
      case 'release':
        void this.#release();
        break;
      default:
        effect satisfies never;
    }
  }

  #emit(event: ConversationEvent): void {
    const timing = this.#timings.observe(event);
    const isTimed = timing !== undefined && event.type === 'response.done' && this.settings.includesTiming;
    this.#deps.transport.emit(isTimed ? withTiming(event, timing) : event);
  }

  #emitAudio(audio: ResponseAudio): void {
    this.#timings.sendAudio(audio.responseId);
    const { outputFormat } = this.#response(audio.responseId)?.settings ?? this.settings;
    this.#playback.addAudio(audio.itemId, audio.audio, outputFormat);
    this.#deps.transport.emitAudio(audio);
  }

  #commit(eventId: string | null): void {
    const { bufferedMs } = this.#userTurns;
    if (bufferedMs < MIN_COMMIT_MS || !this.#userTurns.commit())
      this.reject(emptyBuffer(bufferedMs), eventId);
  }

  #startIdleTimer(timeoutMs: number): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      const audioEndMs = Math.round(this.#userTurns.receivedMs);
      const audioStartMs = Math.max(0, audioEndMs - timeoutMs);
      this.#machine.dispatch({ kind: 'idle_elapsed', itemId: newId('item_'), audioStartMs, audioEndMs });
    }, timeoutMs + this.#playback.aheadMs);
  }

  /** The state may be inconsistent after an unexpected error, so the conversation ends. */
  #handleError(error: unknown): Event | undefined {
    const { log, caller } = this.#deps;
    log.error('conversation failed', error, { request_id: caller.requestId });
    if (!this.#hasFailed) {
      this.#hasFailed = true;
      return { kind: 'error_occurred' };
    }
    // The machine failed again while it handled the error.
    this.#deps.transport.close('internal_error');
    return undefined;
  }

  async #release(): Promise<void> {
    clearTimeout(this.#expiry);
    clearTimeout(this.#idleTimer);
    this.#timings.close();
    try {
      await Promise.all([this.#userTurns.close(), this.#replies.close(), this.#promptCache.close()]);
    } finally {
      this.#deps.released();
    }
  }
}

function withTiming(
  event: ConversationEventOf<'response.done'>,
  { turn_decision, transcript, first_token, first_audio }: TurnTiming,
): ConversationEventOf<'response.done'> {
  const timing = {
    turn_decision_ms: turn_decision ?? null,
    transcript_ms: transcript ?? null,
    first_token_ms: first_token ?? null,
    first_audio_ms: first_audio ?? null,
  };
  return { ...event, response: { ...event.response, timing } };
}

const BUFFER_FULL = invalidRequestError(
  'input_audio_buffer_overflow',
  `The audio buffer holds at most ${MAX_BUFFERED_BYTES / 1024 / 1024} MiB between commits, and as much committed audio that is not transcribed. The buffered audio is kept: commit or clear it.`,
  'audio',
);

function emptyBuffer(bufferedMs: number): ConversationError {
  return invalidRequestError(
    'input_audio_buffer_commit_empty',
    `Error committing input audio buffer: buffer too small. Expected at least ${MIN_COMMIT_MS}ms of audio, but buffer only has ${bufferedMs.toFixed(2)}ms of audio.`,
  );
}
