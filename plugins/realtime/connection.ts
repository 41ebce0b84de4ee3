/**
 * One realtime connection. It is the only reader and writer of its socket: it converts frames to events of
 * the state machine and performs the effects of the machine, in order and without waiting.
 */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { CLOSE, type Socket, type SocketListener } from '../../src/http/transport/socket.ts';
import { MachineRunner } from '../../src/kit/async/machine-runner.ts';
import type { ByteShare } from '../../src/kit/limits/byte-budget.ts';
import type { TranscriptionParams, TurnTranscriptionEvent } from '../../src/listen/turn.ts';
import { type SegmentedTurn, TurnSegmenter } from '../../src/listen/turn-segmenter.ts';
import { Turns } from '../../src/listen/turns.ts';
import type { VoiceLookup } from '../../src/speak/stored-voices.ts';
import { HeldFrames } from './held-frames.ts';
import { MAX_BUFFERED_BYTES, MAX_PENDING_TURNS, mebibytes } from './limits.ts';
import { ConnectionMetrics, type RealtimeMetrics } from './metrics.ts';
import { type ClientEvent, type ParsedFrame, parseClientFrame } from './protocol/client-events.ts';
import { invalidEvent, type ProtocolError, toWireError } from './protocol/errors.ts';
import type { WireEvent } from './protocol/server-events.ts';
import { ResponseAudio } from './response-audio.ts';
import { namedVoice, type VoiceLookupResult } from './session/session.ts';
import { LOGPROBS } from './session/transcription-hints.ts';
import { transcriptionModelId } from './session/transcription-models.ts';
import {
  type ClientCommand,
  type Effect,
  type Event,
  type InitialState,
  initial,
  next,
  type Rules,
  type State,
} from './state/realtime-machine.ts';
import { canCommit, type TranscriptionEvent } from './state/transcription-machine.ts';

export interface ConnectionDeps
  extends Pick<Slots, 'tts' | 'stt' | 'vad' | 'lexicons' | 'calls' | 'clock' | 'log' | 'tracer'> {
  readonly voices: VoiceLookup;
  readonly caller: Caller;
  readonly rules: Rules;
  readonly initialState: InitialState;
  readonly metrics: RealtimeMetrics;
  /** Memory of the audio that the connection holds. */
  readonly audioMemory: ByteShare;
  /** Called once, when everything of the connection is released. */
  readonly released: (connection: RealtimeConnection) => void;
}

export class RealtimeConnection implements SocketListener {
  readonly #deps: ConnectionDeps;
  #socket: Socket | undefined;
  readonly #machine: MachineRunner<State, Event, Effect>;
  readonly #heldFrames: HeldFrames<ClientEvent>;
  readonly #segmenter: TurnSegmenter;
  readonly #turns: Turns;
  readonly #responseAudio: ResponseAudio;
  readonly #connectionMetrics: ConnectionMetrics;
  #isInputStopped = false;
  #hasFailed = false;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#machine = new MachineRunner<State, Event, Effect>({
      initial: initial(deps.initialState),
      next: (state, event) => next(state, event, deps.rules),
      perform: (effect) => this.#perform(effect),
      failed: (error) => this.#handleError(error),
    });
    this.#connectionMetrics = new ConnectionMetrics(deps.metrics, deps.clock);
    const { session } = deps.initialState;
    this.#heldFrames = new HeldFrames({ ...deps, handle: (frame) => this.#handle(frame) });
    this.#segmenter = new TurnSegmenter({
      vad: deps.vad,
      maxBufferedBytes: MAX_BUFFERED_BYTES,
      report: (event) => {
        if (event.kind === 'speech_started' || event.kind === 'committed') this.#addTurn(event.turn);
        this.#machine.dispatch({ kind: 'segmented', event });
      },
    });
    this.#segmenter.configure(session.inputFormat, session.turnDetection);
    this.#turns = new Turns({
      ...deps,
      report: (event) => {
        this.#audioError(0);
        this.#machine.dispatch({ kind: 'transcribed', event: toWireEvent(event) });
      },
    });
    this.#responseAudio = new ResponseAudio({
      ...deps,
      flow: { ready: async (signal) => this.#socket?.ready(signal) },
      report: (event) => this.#machine.dispatch({ kind: 'synthesized', event }),
    });
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    this.#machine.dispatch({ kind: 'opened' });
  }

  received(raw: string | Uint8Array): void {
    if (this.#socket === undefined) return;
    const frame = parseClientFrame(raw);
    const ready = this.#heldFrames.isHolding ? this.#heldFrames.add(frame, raw.length) : frame;
    if (ready !== undefined) this.#handle(ready);
  }

  closed(): void {
    this.#socket = undefined;
    this.#machine.dispatch({ kind: 'socket_closed' });
  }

  /** Finishes the pending work, accepts no new work, and closes. */
  drain(): void {
    this.#machine.dispatch({ kind: 'drain_requested' });
  }

  /** Closes and releases everything without waiting for the peer. */
  stop(): void {
    this.#socket?.close(CLOSE.goingAway, SHUTTING_DOWN);
    this.closed();
  }

  #handle(frame: ParsedFrame): void {
    if ('error' in frame) {
      this.#machine.dispatch({ kind: 'frame_rejected', ...frame });
      return;
    }
    const { event } = frame;
    if (event.type === 'input_audio_buffer.append') {
      const error = this.#append(event.audio);
      if (error !== undefined)
        this.#machine.dispatch({ kind: 'frame_rejected', error, eventId: event.event_id ?? null });
      return;
    }
    const voiceId = event.type === 'session.update' ? namedVoice(event.session) : undefined;
    if (voiceId === undefined) this.#dispatch(event);
    else this.#heldFrames.lookUp(voiceId, (voice) => this.#dispatch(event, voice));
  }

  /** @param voice result of the lookup of the stored voice that the command names. */
  #dispatch(command: ClientCommand, voice?: VoiceLookupResult): void {
    this.#machine.dispatch({
      kind: 'command_received',
      command,
      voice,
      freshItemId: newId('item_'),
      freshResponseId: newId('resp_'),
    });
  }

  /** Appends the audio. Returns an error if it is not accepted. */
  #append(bytes: Uint8Array): ProtocolError | undefined {
    if (this.#isInputStopped) return undefined;
    // Under server_vad commits are automatic, so the audio that would lead to one is rejected instead.
    const { session, transcription } = this.#machine.state;
    if (session.turnDetection !== undefined && !canCommit(transcription)) return TOO_MANY_PENDING_TURNS;
    if (this.#turns.pendingBytes > MAX_BUFFERED_BYTES) return TOO_MUCH_PENDING_AUDIO;
    const error = this.#audioError(bytes.length);
    if (error !== undefined) return error;
    return this.#segmenter.append(bytes) ? undefined : BUFFER_FULL;
  }

  /** Counts the audio that the connection holds. @returns the error if it must not hold `added` more bytes. */
  #audioError(added: number): ProtocolError | undefined {
    try {
      this.#deps.audioMemory.resize(this.#segmenter.bufferedBytes + this.#turns.unreadBytes + added);
      return undefined;
    } catch (error) {
      return { code: 'buffer_overflow', message: (error as Error).message, param: 'audio' };
    }
  }

  /**
   * The state may be inconsistent after an unexpected error, so the connection is closed. The closed socket
   * is a further event; it releases everything.
   */
  #handleError(error: unknown): Event | undefined {
    this.#deps.log.error('realtime connection failed', error, { request_id: this.#deps.caller.requestId });
    if (!this.#hasFailed) {
      this.#hasFailed = true;
      return { kind: 'error_occurred' };
    }
    // The machine failed again while it handled the error.
    this.#socket?.close(CLOSE.internalError, SERVER_FAILED);
    return undefined;
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case 'send':
        this.#send(effect.event);
        break;
      case 'configure_input':
        this.#segmenter.configure(effect.format, effect.detection);
        break;
      case 'commit_input':
        if (!this.#segmenter.commit()) {
          this.#machine.dispatch({ kind: 'frame_rejected', error: EMPTY_BUFFER, eventId: effect.eventId });
        }
        break;
      case 'clear_input':
        this.#segmenter.clear();
        this.#audioError(0);
        break;
      case 'stop_input':
        this.#isInputStopped = true;
        this.#segmenter.close();
        break;
      case 'transcribe':
        this.#turns.get(effect.itemId)?.start();
        break;
      case 'confirm':
        void this.#turns.get(effect.itemId)?.confirm();
        break;
      case 'stop':
        this.#turns.get(effect.itemId)?.stop();
        break;
      case 'abandon':
        this.#turns.get(effect.itemId)?.abandon();
        break;
      case 'synthesize':
        this.#synthesize(effect);
        break;
      case 'stop_response':
        this.#responseAudio.stop(effect.responseId);
        break;
      case 'close':
        if (effect.reason === 'internal_error') this.#socket?.close(CLOSE.internalError, SERVER_FAILED);
        else this.#socket?.close(CLOSE.goingAway, SHUTTING_DOWN);
        break;
      case 'release':
        void this.#release();
        break;
      default:
        effect satisfies never;
    }
  }

  #send(event: WireEvent): void {
    this.#connectionMetrics.recordSent(event);
    this.#socket?.send(JSON.stringify({ event_id: newId('event_'), ...event }));
  }

  /** A turn keeps the settings of the time at which it was added. */
  #addTurn(turn: SegmentedTurn): void {
    const { session } = this.#machine.state;
    const { model, ...hints } = session.transcription;
    const params: TranscriptionParams = {
      ...hints,
      model: transcriptionModelId(model, this.#deps.stt),
      task: session.type === 'translation' ? 'translate' : 'transcribe',
      textTokens: session.include?.includes(LOGPROBS) ?? false,
    };
    this.#turns.add(turn, params);
    this.#audioError(0);
  }

  #synthesize({ responseId, text, session }: Effect & { kind: 'synthesize' }): void {
    this.#responseAudio.start({
      responseId,
      text,
      model: session.ttsModel,
      voice: session.voice,
      language: session.spokenLanguage,
      speed: session.speed ?? 1,
      format: session.outputFormat,
    });
  }

  async #release(): Promise<void> {
    this.#segmenter.close();
    try {
      await Promise.all([this.#heldFrames.close(), this.#turns.close(), this.#responseAudio.close()]);
    } finally {
      this.#deps.audioMemory.end();
      this.#deps.released(this);
    }
  }
}

/** Converts the event for the state machine. A failure keeps only what a client may receive. */
function toWireEvent(event: TurnTranscriptionEvent): TranscriptionEvent {
  return event.kind === 'failed' ? { ...event, error: toWireError(event.error) } : event;
}

const SHUTTING_DOWN = 'The server is shutting down.';
const SERVER_FAILED = 'Internal server error.';

const EMPTY_BUFFER = invalidEvent(
  'The audio buffer is empty: append audio before you commit. Under server_vad, turns are committed automatically.',
);
const BUFFER_FULL: ProtocolError = {
  code: 'buffer_overflow',
  message: `The audio buffer holds at most ${mebibytes(MAX_BUFFERED_BYTES)} between commits. The buffered audio is kept: commit or clear it.`,
  param: 'audio',
};
const TOO_MANY_PENDING_TURNS: ProtocolError = {
  code: 'buffer_overflow',
  message: `${MAX_PENDING_TURNS} committed turns are waiting for transcription. Retry after the next conversation.item.input_audio_transcription.completed event.`,
  param: 'audio',
};
const TOO_MUCH_PENDING_AUDIO: ProtocolError = {
  code: 'buffer_overflow',
  message: `More than ${mebibytes(MAX_BUFFERED_BYTES)} of committed audio are waiting for transcription. Retry after the next conversation.item.input_audio_transcription.completed event.`,
  param: 'audio',
};
