/**
 * One call of the partner platform. It owns the socket: extracts the customer's channel, has its turns detected and
 * transcribed, and performs the effects of the two state machines.
 */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { SttEngine, VadSettings } from '../../../src/contract/engines/engine.ts';
import type { Slots } from '../../../src/contract/plugin.ts';
import { CLOSE, type Socket, type SocketListener } from '../../../src/http/transport/socket.ts';
import { MachineRunner } from '../../../src/kit/async/machine-runner.ts';
import type { OpenConnection } from '../../../src/kit/limits/open-connections.ts';
import { reducedLanguage } from '../../../src/kit/validation/languages.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
import type { TranscriptionParams, TurnTranscriptionEvent } from '../../../src/listen/turn.ts';
import { type SegmenterEvent, TurnSegmenter } from '../../../src/listen/turn-segmenter.ts';
import { Turns } from '../../../src/listen/turns.ts';
import type { PartnerMetrics } from '../metrics.ts';
import { CustomerChannel } from './customer-channel.ts';
import { PartialTranscriber } from './partials.ts';
import * as callMachine from './phone-call-machine.ts';
import { errorMessage, type PlatformMessage, publicMessage, transcriptMessage } from './platform-messages.ts';
import { type CallAudio, DEFAULT_AUDIO, readTextFrame } from './start-message.ts';
import * as turnOrder from './turn-order-machine.ts';

/** Length after which a turn ends at its next pause: transcription models process 30 s per window. */
const LONG_TURN_S = 25;
/** Maximum size of the open turn and of unprocessed audio: one minute at 48 kHz. A turn without pauses ends there. */
export const MAX_BUFFERED_BYTES = 60 * 48_000 * 2;
/** Maximum number of turns that wait for their transcripts. */
export const MAX_TURNS = 16;

export interface PhoneCallDeps extends Pick<Slots, 'stt' | 'vad' | 'calls' | 'clock' | 'log' | 'tracer'> {
  readonly caller: Caller;
  /** Id of a configured transcription model. */
  readonly model: string;
  readonly engine: SttEngine;
  /** ISO 639-1 code of the query. Undefined: the language of the start message, or automatic detection. */
  readonly language: string | undefined;
  readonly detection: VadSettings;
  /** New audio after which an open turn is transcribed again, in ms; 0 turns partials off. */
  readonly partialMs: number;
  readonly metrics: PartnerMetrics;
  /** Called once, when all resources of the call are released. */
  readonly released: (call: PhoneCall) => void;
}

interface TurnTimes {
  /** Start in the audio of the call. */
  readonly startMs: number;
  /** Monotonic end; undefined while its audio arrives. */
  endMs: number | undefined;
}

export class PhoneCall implements SocketListener, OpenConnection {
  readonly #deps: PhoneCallDeps;
  #socket: Socket | undefined;
  readonly #machine: MachineRunner<callMachine.State, callMachine.Event, callMachine.Effect>;
  readonly #turnOrder: MachineRunner<turnOrder.State, turnOrder.Event, turnOrder.Effect>;

  /** Audio format of the last start message. */
  #audio: CallAudio = DEFAULT_AUDIO;
  #channel = new CustomerChannel(DEFAULT_AUDIO.channels);
  readonly #segmenter: TurnSegmenter;
  readonly #partials: PartialTranscriber;
  readonly #turns: Turns;
  /** Times of the turns whose transcripts are pending. */
  readonly #times = new Map<Id<'item_'>, TurnTimes>();
  /** Error message of the last invalid start message. */
  #startError = '';
  #isInputFinished = false;

  constructor(deps: PhoneCallDeps) {
    this.#deps = deps;
    this.#machine = new MachineRunner({
      initial: callMachine.initial,
      next: callMachine.next,
      perform: (effect: callMachine.Effect) => this.#performCallEffect(effect),
      failed: (error) => this.#handleError(error),
    });
    this.#turnOrder = new MachineRunner({
      initial: turnOrder.initial,
      next: turnOrder.next,
      perform: (effect: turnOrder.Effect) => this.#performTurnEffect(effect),
      failed: (error) => {
        this.#machine.dispatch(this.#handleError(error));
        return undefined;
      },
    });
    this.#segmenter = new TurnSegmenter({
      vad: deps.vad,
      maxBufferedBytes: MAX_BUFFERED_BYTES,
      softMaxTurnS: LONG_TURN_S,
      report: (event) => this.#onSegmenterEvent(event),
    });
    this.#partials = new PartialTranscriber(
      {
        ...deps,
        intervalMs: deps.partialMs,
        fairnessKey: deps.caller.keyId,
        language: () => this.#language,
        report: (itemId, text) => this.#turnOrder.dispatch({ kind: 'partial_received', itemId, text }),
      },
      formatOf(DEFAULT_AUDIO),
    );
    this.#turns = new Turns({
      ...deps,
      report: (event) => this.#onTranscriptionEvent(event),
    });
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    this.#machine.dispatch({ kind: 'opened' });
  }

  received(frame: string | Uint8Array): void {
    if (typeof frame === 'string') this.#receivedText(frame);
    else this.#receivedAudio(frame);
  }

  closed(): void {
    this.#socket = undefined;
    this.#machine.dispatch({ kind: 'socket_closed' });
  }

  drain(): void {
    this.#machine.dispatch({ kind: 'drain_requested' });
  }

  stop(): void {
    this.#machine.dispatch({ kind: 'stop_requested' });
  }

  #receivedText(text: string): void {
    const frame = readTextFrame(text);
    switch (frame.kind) {
      case 'start':
        this.#audio = frame.audio;
        this.#machine.dispatch({ kind: 'start_received' });
        break;
      case 'invalid_start':
        this.#startError = frame.message;
        this.#machine.dispatch({ kind: 'invalid_start_received' });
        break;
      case 'other':
        break;
      default:
        frame satisfies never;
    }
  }

  #receivedAudio(bytes: Uint8Array): void {
    this.#machine.dispatch({ kind: 'audio_received' });
    if (!callMachine.acceptsAudio(this.#machine.state)) return;
    const samples = this.#channel.extract(bytes);
    if (this.#segmenter.append(samples)) this.#partials.append(samples);
    else this.#machine.dispatch({ kind: 'overrun' });
  }

  #onSegmenterEvent(event: SegmenterEvent): void {
    switch (event.kind) {
      case 'speech_started': {
        const { turn, audioStartMs } = event;
        this.#turns.add(turn, this.#params());
        this.#times.set(turn.itemId, { startMs: audioStartMs, endMs: undefined });
        this.#turnOrder.dispatch({ kind: 'started', itemId: turn.itemId });
        if (this.#turnOrder.state.length > MAX_TURNS) this.#machine.dispatch({ kind: 'overrun' });
        break;
      }
      case 'committed': {
        const { itemId } = event.turn;
        this.#partials.endTurn(itemId);
        const times = this.#times.get(itemId);
        if (times !== undefined) times.endMs = this.#deps.clock.monotonicMs();
        break;
      }
      case 'detector_failed':
        this.#deps.log.error('voice activity detection failed', event.error, this.#logFields);
        this.#send(errorMessage(publicMessage(event.error)));
        break;
      case 'speech_stopped':
      case 'dropped':
        break;
      default:
        event satisfies never;
    }
  }

  #onTranscriptionEvent(event: TurnTranscriptionEvent): void {
    if (event.kind === 'delta') return;
    const { itemId } = event;
    this.#partials.endTurn(itemId);
    this.#count(itemId, event.kind);
    if (event.kind === 'completed') this.#turnOrder.dispatch(event);
    else this.#turnOrder.dispatch({ kind: 'failed', itemId, message: publicMessage(event.error) });
    this.#checkTurnsFinished();
  }

  #count(itemId: Id<'item_'>, status: string): void {
    const { metrics, clock } = this.#deps;
    const endMs = this.#times.get(itemId)?.endMs;
    this.#times.delete(itemId);
    metrics.turns.add({ status });
    if (endMs !== undefined) metrics.final.observe({}, (clock.monotonicMs() - endMs) / 1000);
  }

  #handleError(error: unknown): callMachine.Event {
    this.#deps.log.error('partner call failed', error, this.#logFields);
    return { kind: 'error_occurred' };
  }

  #performCallEffect(effect: callMachine.Effect): void {
    switch (effect.kind) {
      case 'configure':
      case 'apply_defaults':
        this.#configure(this.#audio);
        break;
      case 'stop_input':
        void this.#stopInput();
        break;
      case 'send_error':
        this.#send(errorMessage(effect.why === 'overrun' ? OVERRUN_MESSAGE : this.#startError));
        break;
      case 'close': {
        const { code, reason } = CLOSE_FRAMES[effect.why];
        this.#socket?.close(code, reason);
        break;
      }
      case 'release':
        void this.#release();
        break;
      default:
        effect satisfies never;
    }
  }

  #configure(audio: CallAudio): void {
    const format = formatOf(audio);
    this.#channel = new CustomerChannel(audio.channels);
    this.#segmenter.configure(format, this.#deps.detection);
    this.#partials.configure(format);
  }

  async #stopInput(): Promise<void> {
    await this.#segmenter.end();
    this.#isInputFinished = true;
    this.#checkTurnsFinished();
  }

  #performTurnEffect(effect: turnOrder.Effect): void {
    switch (effect.kind) {
      case 'transcribe':
        void this.#transcribe(effect.itemId);
        break;
      case 'send_partial':
        this.#deps.metrics.partials.add({});
        this.#send(transcriptMessage('partial', effect.text));
        break;
      case 'send_final':
        this.#send(transcriptMessage('final', effect.text));
        break;
      case 'send_error':
        this.#send(errorMessage(effect.message));
        break;
      default:
        effect satisfies never;
    }
  }

  /** Starts the usage call of a turn. Partials start only when the call is open. */
  async #transcribe(itemId: Id<'item_'>): Promise<void> {
    const turn = this.#turns.get(itemId);
    if (turn === undefined) return;
    turn.start();
    const maxS = MAX_BUFFERED_BYTES / 2 / this.#audio.rateHz;
    const isOpen = await turn.confirm(maxS);
    const times = this.#times.get(itemId);
    const isInProgress = times !== undefined && times.endMs === undefined;
    if (isOpen && isInProgress) this.#partials.startTurn(itemId, times.startMs);
  }

  #params(): TranscriptionParams {
    return {
      model: this.#deps.model,
      task: 'transcribe',
      language: this.#language,
      prompt: undefined,
      endpoint: 'POST /v1/transcribers/partner',
      silence: 'no_row',
    };
  }

  /** The language of the query, or that of the start message if the model supports it. */
  get #language(): string | undefined {
    const { language, engine } = this.#deps;
    if (language !== undefined) return language;
    const startLanguage = this.#audio.language;
    return startLanguage && engine.languages && reducedLanguage(startLanguage, engine.languages);
  }

  get #logFields() {
    return { request_id: this.#deps.caller.requestId };
  }

  #checkTurnsFinished(): void {
    if (this.#isInputFinished && this.#turnOrder.state.length === 0)
      this.#machine.dispatch({ kind: 'turns_finished' });
  }

  #send(message: PlatformMessage): void {
    this.#socket?.send(JSON.stringify(message));
  }

  async #release(): Promise<void> {
    this.#segmenter.close();
    try {
      await Promise.all([this.#turns.close(), this.#partials.close()]);
    } finally {
      this.#deps.released(this);
    }
  }
}

function formatOf({ rateHz }: CallAudio): AudioFormat {
  return { encoding: 'pcm16', rateHz };
}

const OVERRUN_MESSAGE = `Audio arrives faster than it can be transcribed: the limit of ${MAX_TURNS} pending turns or one minute of buffered audio is exceeded.`;

const CLOSE_FRAMES: Readonly<
  Record<callMachine.CloseReason, { readonly code: number; readonly reason: string }>
> = {
  invalid_start: { code: CLOSE.policy, reason: 'Invalid start message.' },
  overrun: { code: CLOSE.tryAgainLater, reason: 'Audio arrives faster than it can be transcribed.' },
  shutting_down: { code: CLOSE.goingAway, reason: 'The server is shutting down.' },
  internal_error: { code: CLOSE.internalError, reason: 'Internal server error.' },
};
