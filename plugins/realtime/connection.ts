/**
 * One realtime connection: the only one that reads and writes its socket. It turns frames into events of the
 * machine and performs what the machine orders, in order and without waiting.
 */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import { newId } from '../../src/contract/core/id.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import { CLOSE, type Socket, type SocketListener } from '../../src/http/transport/socket.ts';
import { type Turn, TurnSegmenter } from '../../src/listen/turn-segmenter.ts';
import {
  type TranscriptionParams,
  type TurnTranscriptionEvent,
  TurnTranscriptions,
} from '../../src/listen/turn-transcriptions.ts';
import type { StoredVoices } from '../../src/speak/stored-voices.ts';
import { FrameInbox } from './frame-queue.ts';
import { ConnectionTiming, type RealtimeMetrics } from './metrics.ts';
import { decodeBase64 } from './protocol/base64.ts';
import type { ClientEvent, ParsedFrame } from './protocol/client-events.ts';
import { failureOf, invalidEvent, type Refusal } from './protocol/errors.ts';
import type { WireEvent } from './protocol/server-events.ts';
import { Speaking } from './response-audio.ts';
import type { Session, VoiceAnswer } from './session/session.ts';
import {
  type Beginning,
  type Effect,
  type Event,
  initial,
  next,
  type Rules,
  type State,
} from './state/realtime-machine.ts';
import { MAX_WAITING, mayCommit, type TranscriptionFact } from './state/transcription-machine.ts';

/** Audio between commits (spec 8), and as much again that was committed and waits to be transcribed. */
export const MAX_BUFFERED_BYTES = 25 * 1024 * 1024;

export interface ConnectionParts
  extends Pick<Slots, 'tts' | 'stt' | 'vad' | 'calls' | 'clock' | 'log' | 'tracer'> {
  readonly voices: Pick<StoredVoices, 'find'>;
  readonly caller: Caller;
  readonly rules: Rules;
  readonly beginning: Beginning;
  readonly metrics: RealtimeMetrics;
  /** Called once, when nothing of the connection runs any more. */
  readonly released: (connection: Connection) => void;
}

type Append = ClientEvent & { readonly type: 'input_audio_buffer.append' };

export class Connection implements SocketListener {
  readonly #parts: ConnectionParts;
  #socket: Socket | undefined;
  #state: State;
  /** Events that came up while another one was dealt with. */
  readonly #events: Event[] = [];
  #isStepping = false;

  readonly #inbox: FrameInbox;
  readonly #listener: TurnSegmenter;
  readonly #transcriptions: TurnTranscriptions;
  readonly #speaking: Speaking;
  readonly #timing: ConnectionTiming;
  /** Turns whose transcription has not ended. */
  readonly #turns = new Map<string, { readonly turn: Turn; readonly ask: TranscriptionParams }>();
  #isDeaf = false;
  #isFaulty = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#state = initial(parts.beginning);
    this.#timing = new ConnectionTiming(parts.metrics, parts.clock);
    const { session } = parts.beginning;
    this.#inbox = new FrameInbox({
      lookUp: (voiceId) => this.#lookUp(voiceId),
      deliver: (frame, voice) => this.#deliver(frame, voice),
    });
    this.#listener = new TurnSegmenter({
      vad: parts.vad,
      maxBufferedBytes: MAX_BUFFERED_BYTES,
      report: (event) => this.#happened({ kind: 'heard', event }),
    });
    this.#listener.configure(session.inputFormat, session.turnDetection);
    this.#transcriptions = new TurnTranscriptions({
      ...parts,
      report: (fact) => {
        if (fact.kind !== 'delta') this.#turns.delete(fact.itemId);
        this.#happened({ kind: 'transcribed', fact: onWire(fact) });
      },
    });
    this.#speaking = new Speaking({
      ...parts,
      flow: { ready: async (signal) => this.#socket?.ready(signal) },
      report: (fact) => this.#happened({ kind: 'spoken', fact }),
    });
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    this.#happened({ kind: 'opened' });
  }

  received(frame: string | Uint8Array): void {
    this.#inbox.take(frame);
  }

  closed(): void {
    this.#socket = undefined;
    this.#happened({ kind: 'socket_closed' });
  }

  /** Ends what is under way, begins nothing new, and closes. */
  drain(): void {
    this.#happened({ kind: 'drain_ordered' });
  }

  /** Closes, and frees everything without waiting for the peer. */
  stop(): void {
    this.#socket?.close(CLOSE.goingAway, SHUTTING_DOWN);
    this.closed();
  }

  async #lookUp(voiceId: string): Promise<VoiceAnswer> {
    const { voices, caller, log } = this.#parts;
    try {
      return (await voices.find(voiceId, caller.organization)) === undefined ? 'missing' : 'found';
    } catch (error) {
      log.error('voice could not be looked up', error, { request_id: caller.requestId });
      return 'failed';
    }
  }

  #deliver(frame: ParsedFrame, voice: VoiceAnswer | undefined): void {
    if ('refusal' in frame) {
      this.#happened({ kind: 'refused', ...frame });
      return;
    }
    const { event } = frame;
    if (event.type === 'input_audio_buffer.append') {
      this.#append(event);
      return;
    }
    this.#happened({
      kind: 'asked',
      ask: event,
      voice,
      freshItemId: newId('item'),
      freshResponseId: newId('response'),
    });
  }

  #append({ audio, event_id }: Append): void {
    const bytes = decodeBase64(audio);
    const refusal = bytes === undefined ? NOT_BASE64 : this.#overflow(bytes);
    if (refusal !== undefined) this.#happened({ kind: 'refused', refusal, eventId: event_id ?? null });
  }

  /** Takes the audio, or gives back why not. */
  #overflow(bytes: Uint8Array): Refusal | undefined {
    if (this.#isDeaf) return undefined;
    // Under server_vad nobody asks before a commit, so what would lead to one is what is refused.
    const { session, transcription } = this.#state;
    if (session.turnDetection !== undefined && !mayCommit(transcription)) return TOO_MANY_WAIT;
    if (this.#waitingBytes() > MAX_BUFFERED_BYTES) return TOO_MUCH_WAITS;
    return this.#listener.append(bytes) ? undefined : BUFFER_FULL;
  }

  /** Bytes of turns that are not transcribed yet. One alone was the buffer, and so within its limit. */
  #waitingBytes(): number {
    if (this.#turns.size <= 1) return 0;
    return this.#turns.values().reduce((sum, { turn }) => sum + turn.audio.unreadBytes, 0);
  }

  /** Deals with an event, and with those that it leads to, in their order. */
  #happened(event: Event): void {
    this.#events.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    for (let first = this.#events.shift(); first !== undefined; first = this.#events.shift()) {
      try {
        const { state, effects } = next(this.#state, first, this.#parts.rules);
        this.#state = state;
        for (const effect of effects) this.#perform(effect);
      } catch (error) {
        this.#fault(error);
      }
    }
    this.#isStepping = false;
  }

  /**
   * Nobody knows what is left in order, so the client is told to begin anew. That the socket has closed is the
   * next event, by which everything is freed.
   */
  #fault(error: unknown): void {
    this.#events.length = 0;
    this.#parts.log.error('realtime connection failed', error, { request_id: this.#parts.caller.requestId });
    if (!this.#isFaulty) this.#events.push({ kind: 'fault_found' });
    // The machine cannot even end it.
    else this.#socket?.close(CLOSE.serverFault, SERVER_FAILED);
    this.#isFaulty = true;
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case 'send':
        this.#send(effect.event);
        break;
      case 'configure_input':
        this.#listener.configure(effect.format, effect.detection);
        break;
      case 'commit_input':
        if (!this.#listener.commit()) {
          this.#happened({ kind: 'refused', refusal: NOTHING_BUFFERED, eventId: effect.eventId });
        }
        break;
      case 'clear_input':
        this.#listener.clear();
        break;
      case 'deafen':
        this.#isDeaf = true;
        this.#listener.close();
        break;
      case 'keep':
        this.#keep(effect.turn, effect.session);
        break;
      case 'transcription':
        this.#transcribe(effect.effect);
        break;
      case 'synthesize':
        this.#synthesize(effect);
        break;
      case 'stop_response':
        this.#speaking.stop(effect.responseId);
        break;
      case 'close':
        if (effect.why === 'fault') this.#socket?.close(CLOSE.serverFault, SERVER_FAILED);
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
    this.#timing.sent(event);
    this.#socket?.send(JSON.stringify({ event_id: newId('event'), ...event }));
  }

  #keep(turn: Turn, session: Session): void {
    if (this.#turns.has(turn.itemId)) return;
    const { model, language, prompt } = session.transcription;
    const task = session.type === 'translation' ? 'translate' : 'transcribe';
    this.#turns.set(turn.itemId, { turn, ask: { model, task, language, prompt } });
  }

  #transcribe(effect: (Effect & { kind: 'transcription' })['effect']): void {
    const { itemId } = effect;
    const kept = this.#turns.get(itemId);
    switch (effect.kind) {
      case 'transcribe':
        if (kept) this.#transcriptions.start(kept.turn, kept.ask);
        break;
      case 'confirm':
        if (kept) void this.#transcriptions.confirm(kept.turn, kept.ask);
        break;
      case 'stop':
        this.#turns.delete(itemId);
        this.#transcriptions.stop(itemId);
        break;
      case 'abandon':
        this.#turns.delete(itemId);
        this.#transcriptions.abandon(itemId);
        break;
      default:
        effect satisfies never;
    }
  }

  #synthesize({ responseId, text, session }: Effect & { kind: 'synthesize' }): void {
    this.#speaking.start({
      responseId,
      text,
      model: session.ttsModel,
      voice: session.voice,
      speed: session.speed ?? 1,
      format: session.outputFormat,
    });
  }

  async #release(): Promise<void> {
    this.#listener.close();
    try {
      await Promise.all([this.#inbox.close(), this.#transcriptions.close(), this.#speaking.close()]);
    } finally {
      this.#parts.released(this);
    }
  }
}

/** A fact in the words of the machine: of a failure only what a client may read. */
function onWire(fact: TurnTranscriptionEvent): TranscriptionFact {
  return fact.kind === 'failed' ? { ...fact, error: failureOf(fact.error) } : fact;
}

const SHUTTING_DOWN = 'The server is shutting down.';
const SERVER_FAILED = 'The server failed.';
const MIB = MAX_BUFFERED_BYTES / 1024 / 1024;

const NOT_BASE64 = invalidEvent(
  "'audio' must be base64 as in RFC 4648, 4: A-Z a-z 0-9 + /, with padding and without line breaks.",
  'audio',
);
const NOTHING_BUFFERED = invalidEvent(
  'The audio buffer is empty: append audio before you commit. Under server_vad, turns are committed by themselves.',
);
const BUFFER_FULL: Refusal = {
  code: 'buffer_overflow',
  message: `The audio buffer holds at most ${MIB} MiB between commits. What it holds is kept: commit or clear it.`,
  param: 'audio',
};
const TOO_MANY_WAIT: Refusal = {
  code: 'buffer_overflow',
  message: `${MAX_WAITING} committed turns wait to be transcribed. Append again after a completed.`,
  param: 'audio',
};
const TOO_MUCH_WAITS: Refusal = {
  code: 'buffer_overflow',
  message: `More than ${MIB} MiB of committed audio wait to be transcribed. Append again after a completed.`,
  param: 'audio',
};
