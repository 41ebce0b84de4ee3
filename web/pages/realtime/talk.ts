import type { ServerEvent } from '../../../plugins/realtime/protocol/server-events.ts';
import type { ServiceClient } from '../../client/service-client.ts';
import { isAbort, toFault } from '../../client/service-fault.ts';
import { LoudnessTrack } from '../../sound/loudness-track.ts';
import { Microphone } from '../../sound/microphone.ts';
import { base64Of, bytesOf, PcmReader, type Samples } from '../../sound/pcm.ts';
import { Player } from '../../sound/player.ts';
import { sendWithTimeout } from './answer.ts';
import { type Conversation, isRefusedText, NOTHING_SAID, next, type PageAct } from './conversation.ts';
import { EventLog, type Frame } from './event-log.ts';
import { completed, type HeldTurn, pressed, released, UP } from './held-turn.ts';
import { SPOKEN_RATE_HZ, sessionOf, type TalkSettings } from './talk-settings.ts';

/** Maximum size of the send buffer in bytes: half a minute of audio at 24 kHz. */
const MAX_WAITING_BYTES = 2_000_000;
/** Sample rate of the session until the microphone is open, in Hz. */
const USUAL_RATE_HZ = 24_000;

/** User-facing messages for WebSocket close codes. */
const CLOSED: Readonly<Record<number, string>> = {
  1001: 'The service is shutting down.',
  1006: 'Connection lost.',
  1008: 'The service closed the connection.',
  1009: 'A message was too large.',
  1011: 'Internal server error.',
  1013: 'The service is overloaded; try again later.',
};

/** `configuring`: the service has not accepted the session yet, possibly because it rejected the settings. */
export type TalkPhase = 'connecting' | 'configuring' | 'ready' | 'ended';

/** One connection to `/v1/realtime` with its microphone and audio player. The caller closes it. */
export class Talk {
  /** Loudness of the sent audio. */
  readonly track = new LoudnessTrack();
  readonly log = new EventLog();

  readonly #client: ServiceClient;
  readonly #socket: WebSocket;
  readonly #player: Player;
  readonly #abort = new AbortController();
  readonly #startMs = performance.now();
  readonly #listeners = new Set<() => void>();
  #settings: TalkSettings;
  #phase: TalkPhase = 'connecting';
  #ending = '';
  #conversation: Conversation = NOTHING_SAID;
  #microphone: Microphone | undefined;
  #microphoneFault: string | undefined;
  #held: HeldTurn = UP;
  #sentMs = 0;
  #sentEvents = 0;
  #pcm = new PcmReader();
  /** Whether a language model request is running, and whether new turns arrived since it started. */
  #isAnswering = false;
  #hasMore = false;
  /** A text that is synthesized when the current response ends; only the newest is retained. */
  #waiting: string | undefined;
  #version = 0;

  /** @throws SyntaxError if the key has characters that a subprotocol must not contain. */
  constructor(client: ServiceClient, settings: TalkSettings) {
    this.#client = client;
    this.#settings = settings;
    const { address, protocols } = client.socket('v1/realtime');
    this.#socket = new WebSocket(address, protocols);
    this.#player = new Player(SPOKEN_RATE_HZ, () => this.#changed());
    this.#socket.onmessage = ({ data }) => this.#told(JSON.parse(data as string) as ServerEvent);
    this.#socket.onclose = ({ code, reason }) => {
      const wasReady = this.#phase === 'ready';
      const words = CLOSED[code] ?? `Connection closed (${code}).`;
      this.#end(reason === '' ? words : `${words} ${reason}`);
      if (!wasReady) void this.#explain();
    };
  }

  /** @returns a function that removes the listener. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Increases with every change, except changes of {@link track}. */
  version = (): number => this.#version;

  get phase(): TalkPhase {
    return this.#phase;
  }

  /** Why the connection ended, for the user; empty if the user closed it. */
  get ending(): string {
    return this.#ending;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  get hasMicrophone(): boolean {
    return this.#microphone !== undefined;
  }

  get microphoneFault(): string | undefined {
    return this.#microphoneFault;
  }

  get isHeld(): boolean {
    return this.#held.kind === 'down';
  }

  /** Whether synthesized audio is playing or still expected. */
  get isSpeaking(): boolean {
    return this.#conversation.response !== undefined || this.#player.playing;
  }

  /** Changes the settings, also during a connection. */
  configure(settings: TalkSettings): void {
    if (settings === this.#settings) return;
    this.#settings = settings;
    this.#endHeld();
    if (this.#phase === 'configuring' || this.#phase === 'ready') this.#sendSession();
    this.#changed();
  }

  /** Starts a push-to-talk turn. */
  press(): void {
    if (this.#microphone === undefined || !this.#isByHand || this.isHeld) return;
    if (this.#held.kind === 'up') this.track.begin(this.#sentMs);
    this.#held = pressed(this.#held, this.#sentMs);
    this.#changed();
  }

  /** Ends the push-to-talk turn after the current audio block. */
  release(): void {
    this.#held = released(this.#held, performance.now());
    this.#changed();
  }

  /** Synthesizes a text; cancels the current response. */
  speak(text: string): void {
    if (this.#phase !== 'ready') return;
    if (this.#conversation.response !== undefined) {
      this.cancel();
      this.#waiting = text;
      return;
    }
    this.#player.stop();
    this.#pcm = new PcmReader();
    const content = [{ type: 'input_text', text }];
    const item = { type: 'message', role: 'user', content };
    const textEventId = this.#send({ type: 'conversation.item.create', item });
    const eventId = this.#send({ type: 'response.create' });
    this.#act({ type: 'page.asked', eventId, textEventId, text });
  }

  /** Cancels the current response. */
  cancel(): void {
    const { response } = this.#conversation;
    this.#waiting = undefined;
    this.#player.stop();
    if (response !== undefined && !response.isCancelled) {
      this.#act({ type: 'page.cancelled', eventId: this.#send({ type: 'response.cancel' }) });
    }
    this.#changed();
  }

  close(): void {
    this.#end('');
  }

  #told(event: ServerEvent): void {
    this.log.add('server', event, this.#atMs);
    this.#conversation = next(this.#conversation, event, performance.now());
    this.#perform(event);
    this.#changed();
  }

  /** Side effects of an event. */
  #perform(event: ServerEvent): void {
    switch (event.type) {
      case 'session.created':
        this.#phase = 'configuring';
        this.#sendSession();
        break;
      case 'session.updated':
        this.#begin();
        break;
      case 'input_audio_buffer.speech_started':
        this.track.begin(event.audio_start_ms);
        break;
      case 'input_audio_buffer.speech_stopped':
        this.track.end(event.audio_end_ms);
        break;
      case 'conversation.item.input_audio_transcription.completed':
        this.#answer(event.transcript);
        break;
      case 'response.audio.delta':
        if (this.#conversation.response?.isCancelled !== true) {
          this.#player.play(this.#pcm.read(bytesOf(event.delta)), SPOKEN_RATE_HZ);
        }
        break;
      case 'error':
        // The response is already requested; without its text it would repeat the previous one.
        if (isRefusedText(this.#conversation, event) && this.#waiting === undefined) this.cancel();
        this.#speakWaiting();
        break;
      case 'response.done':
        this.#speakWaiting();
        break;
    }
  }

  /** Called when the service accepted the session. */
  #begin(): void {
    if (this.#phase !== 'configuring') return;
    this.#phase = 'ready';
    void this.#listen();
  }

  #speakWaiting(): void {
    const text = this.#waiting;
    if (text === undefined || this.#conversation.response !== undefined) return;
    this.#waiting = undefined;
    this.speak(text);
  }

  #answer(transcript: string): void {
    if (transcript.trim() === '') return;
    const { answers } = this.#settings;
    if (answers === 'echo') this.speak(transcript);
    if (answers === 'model') void this.#answerByModel();
  }

  /** One request at a time: turns that complete during a request share the next one. */
  async #answerByModel(): Promise<void> {
    this.#hasMore = true;
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    const { signal } = this.#abort;
    try {
      while (this.#hasMore && !signal.aborted) {
        this.#hasMore = false;
        const { answeringModel } = this.#settings;
        const text = await sendWithTimeout(this.#client, answeringModel, this.#conversation.turns, signal);
        if (text !== '') this.speak(text);
      }
    } catch (error) {
      if (!signal.aborted) this.#faulted(toFault(error).message);
    } finally {
      this.#isAnswering = false;
    }
  }

  #faulted(message: string): void {
    this.#conversation = { ...this.#conversation, speechFault: message };
    this.#changed();
  }

  async #listen(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const listener = {
        onBlock: (block: Samples) => this.#heard(block),
        onEnd: (words: string) => this.#lostMicrophone(words),
      };
      this.#microphone = await Microphone.open('talk', listener, signal);
      if (this.#microphone.rateHz !== USUAL_RATE_HZ) this.#sendSession();
    } catch (error) {
      if (isAbort(error)) return;
      this.#lostMicrophone(toFault(error).message);
    }
    this.#changed();
  }

  #lostMicrophone(words: string): void {
    this.#endHeld();
    this.#microphone?.close();
    this.#microphone = undefined;
    this.#microphoneFault = words;
    this.#changed();
  }

  get #isByHand(): boolean {
    return this.#settings.turns === 'hold';
  }

  #heard(block: Samples): void {
    const microphone = this.#microphone;
    if (microphone === undefined || (this.#isByHand && this.#held.kind === 'up')) return;
    if (this.#socket.bufferedAmount > MAX_WAITING_BYTES) {
      this.#end('The network is too slow for live audio.');
      return;
    }
    this.#send({ type: 'input_audio_buffer.append', audio: base64Of(block) });
    this.#sentMs += (block.length / microphone.rateHz) * 1000;
    this.track.add(block, microphone.rateHz);
    this.#commitHeld();
    this.#changed();
  }

  /** Ends a push-to-talk turn with the audio sent so far. */
  #endHeld(): void {
    this.release();
    this.#commitHeld();
  }

  /** Commits the released turn for transcription. */
  #commitHeld(): void {
    if (this.#held.kind !== 'ending') return;
    const turn = completed(this.#held, this.#sentMs);
    this.#held = UP;
    this.track.end(this.#sentMs);
    if (turn === undefined) return;
    this.#send({ type: 'input_audio_buffer.commit' });
    this.#act({ type: 'page.committed', turn });
  }

  #sendSession(): void {
    const rateHz = this.#microphone?.rateHz ?? USUAL_RATE_HZ;
    this.#send({ type: 'session.update', session: sessionOf(this.#settings, rateHz) });
    this.#act({ type: 'page.configured' });
  }

  /**
   * Sends an event with a new id, which errors refer to. Does nothing once the connection is closing.
   * @returns the id.
   */
  #send(event: Frame): string {
    this.#sentEvents += 1;
    const eventId = `page_${this.#sentEvents}`;
    if (this.#socket.readyState !== WebSocket.OPEN) return eventId;
    const frame = { event_id: eventId, ...event };
    this.log.add('client', frame, this.#atMs);
    this.#socket.send(JSON.stringify(frame));
    return eventId;
  }

  get #atMs(): number {
    return performance.now() - this.#startMs;
  }

  #act(act: PageAct): void {
    this.#conversation = next(this.#conversation, act, performance.now());
    this.#changed();
  }

  #end(words: string): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#ending = words;
    this.#held = UP;
    this.#abort.abort();
    this.#microphone?.close();
    this.#microphone = undefined;
    this.#player.close();
    this.track.end(this.#sentMs);
    this.#socket.onmessage = null;
    this.#socket.onclose = null;
    this.#socket.close(1000);
    this.#act({ type: 'page.ended' });
  }

  /**
   * Browsers do not expose why a WebSocket handshake failed. The same request over HTTP returns the error.
   */
  async #explain(): Promise<void> {
    try {
      await this.#client.get('v1/realtime', { signal: AbortSignal.timeout(EXPLAIN_MS) });
    } catch (error) {
      const fault = toFault(error);
      // The expected response to a request without an upgrade: there is no other error to show.
      if (fault.status === UPGRADE_REQUIRED || fault.status === 0) return;
      this.#ending = fault.message;
      this.#changed();
    }
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

const UPGRADE_REQUIRED = 426;
const EXPLAIN_MS = 5000;
