/**
 * One call of the partner platform: the only one that reads and writes its socket. It takes the customer's channel
 * out of the audio, has its turns found and transcribed, and performs what the two machines order.
 */

import type { Caller } from '../../../src/contract/accounts/caller.ts';
import type { Id } from '../../../src/contract/core/id.ts';
import type { SttEngine, VadSettings } from '../../../src/contract/engines/engine.ts';
import type { Slots } from '../../../src/contract/plugin.ts';
import { CLOSE, type Socket, type SocketListener } from '../../../src/http/transport/socket.ts';
import type { OpenConnection } from '../../../src/kit/limits/open-connections.ts';
import type { AudioFormat } from '../../../src/listen/audio-format.ts';
import { type SegmenterEvent, type Turn, TurnSegmenter } from '../../../src/listen/turn-segmenter.ts';
import {
  type TranscriptionParams,
  type TurnTranscriptionEvent,
  TurnTranscriptions,
} from '../../../src/listen/turn-transcriptions.ts';
import type { PartnerMetrics } from '../metrics.ts';
import { CustomerChannel } from './customer-channel.ts';
import { Partials } from './partials.ts';
import * as life from './phone-call-machine.ts';
import { errorMessage, type PlatformMessage, tellable, transcriptMessage } from './platform-messages.ts';
import { type CallAudio, readTextFrame, USUAL_AUDIO } from './start-message.ts';
import * as order from './turn-order-machine.ts';

/** A turn that has this much audio ends with its next pause: a recogniser takes 30 s in one window. */
const LONG_TURN_S = 25;
/** Audio of an open turn, and of what has not been judged: a minute at 48 kHz. A turn without any pause ends there. */
export const MAX_BUFFERED_BYTES = 60 * 48_000 * 2;
/** Turns that may wait for their transcripts. */
export const MAX_TURNS = 16;

export interface PhoneCallParts extends Pick<Slots, 'stt' | 'vad' | 'calls' | 'clock' | 'log' | 'tracer'> {
  readonly caller: Caller;
  /** Id of a recogniser that CONFIG has. */
  readonly model: string;
  readonly engine: SttEngine;
  /** ISO 639-1, of the address; undefined: what the start says, else the engine finds out. */
  readonly language: string | undefined;
  readonly detection: VadSettings;
  /** New audio after which an open turn is transcribed again; 0 is never. */
  readonly partialMs: number;
  readonly metrics: PartnerMetrics;
  /** Called once, when nothing of the call runs any more. */
  readonly released: (call: PhoneCall) => void;
}

type Event = life.Event | { readonly kind: 'turn'; readonly event: order.Event };

export class PhoneCall implements SocketListener, OpenConnection {
  readonly #parts: PhoneCallParts;
  #socket: Socket | undefined;
  #life: life.State = life.initial;
  #order: order.State = order.initial;
  /** Events that came up while another one was dealt with. */
  readonly #events: Event[] = [];
  #isStepping = false;

  /** Of the last start, until another one comes. */
  #audio: CallAudio = USUAL_AUDIO;
  #channel = new CustomerChannel(USUAL_AUDIO.channels);
  readonly #listener: TurnSegmenter;
  readonly #partials: Partials;
  readonly #transcriptions: TurnTranscriptions;
  /** Turns that have not been transcribed, with where they begin in the audio of the call. */
  readonly #turns = new Map<Id<'item'>, { readonly turn: Turn; readonly startMs: number }>();
  /** When the turns ended whose transcripts have not been told. */
  readonly #endedMs = new Map<Id<'item'>, number>();
  /** The last start that was wrong: what is told of it. */
  #wrongStart = '';
  #hasHeardAll = false;

  constructor(parts: PhoneCallParts) {
    this.#parts = parts;
    this.#listener = new TurnSegmenter({
      vad: parts.vad,
      maxBufferedBytes: MAX_BUFFERED_BYTES,
      softMaxTurnS: LONG_TURN_S,
      report: (event) => this.#heard(event),
    });
    this.#partials = new Partials(
      {
        ...parts,
        everyMs: parts.partialMs,
        fairnessKey: parts.caller.keyId,
        language: () => this.#language,
        report: (itemId, text) => this.#happenedTo({ kind: 'heard_so_far', itemId, text }),
      },
      formatOf(USUAL_AUDIO),
    );
    this.#transcriptions = new TurnTranscriptions({ ...parts, report: (fact) => this.#transcribed(fact) });
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    this.#happened({ kind: 'opened' });
  }

  received(frame: string | Uint8Array): void {
    if (typeof frame === 'string') this.#receivedText(frame);
    else this.#receivedAudio(frame);
  }

  closed(): void {
    this.#socket = undefined;
    this.#happened({ kind: 'socket_closed' });
  }

  drain(): void {
    this.#happened({ kind: 'drain_ordered' });
  }

  stop(): void {
    this.#happened({ kind: 'stop_ordered' });
  }

  #receivedText(text: string): void {
    const frame = readTextFrame(text);
    switch (frame.kind) {
      case 'start':
        this.#audio = frame.audio;
        this.#happened({ kind: 'start_came' });
        break;
      case 'wrong_start':
        this.#wrongStart = frame.message;
        this.#happened({ kind: 'wrong_start_came' });
        break;
      case 'other':
        break;
      default:
        frame satisfies never;
    }
  }

  #receivedAudio(bytes: Uint8Array): void {
    this.#happened({ kind: 'audio_came' });
    if (!life.hears(this.#life)) return;
    const samples = this.#channel.take(bytes);
    if (this.#listener.append(samples)) this.#partials.hear(samples);
    else this.#happened({ kind: 'overrun' });
  }

  #heard(event: SegmenterEvent): void {
    switch (event.kind) {
      case 'speech_started': {
        const { turn, audioStartMs } = event;
        this.#turns.set(turn.itemId, { turn, startMs: audioStartMs });
        this.#happenedTo({ kind: 'opened', itemId: turn.itemId });
        if (this.#order.length > MAX_TURNS) this.#happened({ kind: 'overrun' });
        break;
      }
      case 'committed':
        this.#partials.end(event.turn.itemId);
        this.#endedMs.set(event.turn.itemId, this.#parts.clock.monotonicMs());
        break;
      case 'detector_failed':
        this.#parts.log.error('voice activity detection failed', event.error, this.#who);
        this.#send(errorMessage(tellable(event.error)));
        break;
      case 'speech_stopped':
      case 'dropped':
        break;
      default:
        event satisfies never;
    }
  }

  #transcribed(fact: TurnTranscriptionEvent): void {
    if (fact.kind === 'delta') return;
    const { itemId } = fact;
    this.#turns.delete(itemId);
    this.#partials.end(itemId);
    this.#count(itemId, fact.kind);
    if (fact.kind === 'completed') this.#happenedTo(fact);
    else this.#happenedTo({ kind: 'failed', itemId, message: tellable(fact.error) });
  }

  #count(itemId: Id<'item'>, status: string): void {
    const { metrics, clock } = this.#parts;
    const endedMs = this.#endedMs.get(itemId);
    this.#endedMs.delete(itemId);
    metrics.turns.add({ status });
    if (endedMs !== undefined) metrics.final.observe({}, (clock.monotonicMs() - endedMs) / 1000);
  }

  #happenedTo(event: order.Event): void {
    this.#happened({ kind: 'turn', event });
  }

  /** Deals with an event, and with those that it leads to, in their order. */
  #happened(event: Event): void {
    this.#events.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    for (let first = this.#events.shift(); first !== undefined; first = this.#events.shift()) {
      try {
        if (first.kind === 'turn') this.#stepOrder(first.event);
        else this.#stepLife(first);
      } catch (error) {
        this.#parts.log.error('partner call failed', error, this.#who);
        this.#events.push({ kind: 'fault_found' });
      }
    }
    this.#isStepping = false;
  }

  #stepLife(event: life.Event): void {
    const { state, effects } = life.next(this.#life, event);
    this.#life = state;
    for (const effect of effects) this.#performLife(effect);
  }

  #performLife(effect: life.Effect): void {
    switch (effect.kind) {
      case 'configure':
      case 'assume':
        this.#configure(this.#audio);
        break;
      case 'end_hearing':
        void this.#endHearing();
        break;
      case 'tell':
        this.#send(errorMessage(effect.why === 'overrun' ? TOO_MUCH : this.#wrongStart));
        break;
      case 'close': {
        const { code, reason } = CLOSES[effect.why];
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
    this.#listener.configure(format, this.#parts.detection);
    this.#partials.configure(format);
  }

  async #endHearing(): Promise<void> {
    await this.#listener.end();
    this.#hasHeardAll = true;
    this.#tellTurnsEnded();
  }

  #stepOrder(event: order.Event): void {
    const { state, effects } = order.next(this.#order, event);
    this.#order = state;
    for (const effect of effects) this.#performOrder(effect);
    this.#tellTurnsEnded();
  }

  #performOrder(effect: order.Effect): void {
    switch (effect.kind) {
      case 'transcribe':
        void this.#transcribe(effect.itemId);
        break;
      case 'tell_partial':
        this.#parts.metrics.partials.add({});
        this.#send(transcriptMessage('partial', effect.text));
        break;
      case 'tell_final':
        this.#send(transcriptMessage('final', effect.text));
        break;
      case 'tell_failure':
        this.#send(errorMessage(effect.message));
        break;
      default:
        effect satisfies never;
    }
  }

  /** Begins a turn, which is a call from its beginning on: nothing of it is told before it is open. */
  async #transcribe(itemId: Id<'item'>): Promise<void> {
    const begun = this.#turns.get(itemId);
    if (begun === undefined) return;
    const ask: TranscriptionParams = {
      model: this.#parts.model,
      task: 'transcribe',
      language: this.#language,
      prompt: undefined,
      endpoint: 'POST /v1/transcribers/partner',
      silence: 'no_row',
    };
    this.#transcriptions.start(begun.turn, ask);
    const maxS = MAX_BUFFERED_BYTES / 2 / this.#audio.rateHz;
    const isOpen = await this.#transcriptions.confirm(begun.turn, ask, maxS);
    const isSpoken = this.#turns.has(itemId) && !this.#endedMs.has(itemId);
    if (isOpen && isSpoken) this.#partials.begin(itemId, begun.startMs);
  }

  /** The language of the address, or that of the start where the model knows it. */
  get #language(): string | undefined {
    const { language, engine } = this.#parts;
    if (language !== undefined) return language;
    const said = this.#audio.language;
    return said !== undefined && engine.languages?.includes(said) ? said : undefined;
  }

  get #who() {
    return { request_id: this.#parts.caller.requestId };
  }

  #tellTurnsEnded(): void {
    if (this.#hasHeardAll && this.#order.length === 0) this.#happened({ kind: 'turns_ended' });
  }

  #send(message: PlatformMessage): void {
    this.#socket?.send(JSON.stringify(message));
  }

  async #release(): Promise<void> {
    this.#listener.close();
    try {
      await Promise.all([this.#transcriptions.close(), this.#partials.close()]);
    } finally {
      this.#parts.released(this);
    }
  }
}

function formatOf({ rateHz }: CallAudio): AudioFormat {
  return { encoding: 'pcm16', rateHz };
}

const TOO_MUCH = `Audio comes faster than it can be transcribed: ${MAX_TURNS} turns, or a minute of audio, wait.`;

const CLOSES: Readonly<Record<life.Why, { readonly code: number; readonly reason: string }>> = {
  wrong_start: { code: CLOSE.policy, reason: 'The start message cannot be used.' },
  overrun: { code: CLOSE.tryAgainLater, reason: 'Audio comes faster than it can be transcribed.' },
  shutting_down: { code: CLOSE.goingAway, reason: 'The server is shutting down.' },
  fault: { code: CLOSE.serverFault, reason: 'The server failed.' },
};
