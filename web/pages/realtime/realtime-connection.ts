import type { ServerEvent } from '../../../plugins/realtime/protocol/server-events.ts';
import { LoudnessTrack } from '../../audio/loudness-track.ts';
import { Microphone } from '../../audio/microphone.ts';
import { base64Of, bytesOf, PcmReader, type Samples } from '../../audio/pcm.ts';
import { Player } from '../../audio/player.ts';
import type { ServiceClient } from '../../client/service-client.ts';
import { isAbort, toServiceError } from '../../client/service-error.ts';
import {
  type Conversation,
  EMPTY_CONVERSATION,
  isRefusedText,
  reduceConversation,
  type UserAction,
} from './conversation.ts';
import { type ConversationSettings, SPEECH_RATE_HZ, sessionOf } from './conversation-settings.ts';
import { EventLog, type Frame } from './event-log.ts';
import { requestReply } from './model-reply.ts';
import { completed, type PushToTalkTurn, pressed, released, UP } from './push-to-talk.ts';

/** Maximum size of the send buffer in bytes: half a minute of audio at 24 kHz. */
const MAX_BUFFERED_BYTES = 2_000_000;
/** Sample rate of the session until the microphone is open, in Hz. */
const DEFAULT_RATE_HZ = 24_000;

/** User-facing messages for WebSocket close codes. */
const CLOSE_MESSAGES: Readonly<Record<number, string>> = {
  1001: 'The service is shutting down.',
  1006: 'Connection lost.',
  1008: 'The service closed the connection.',
  1009: 'A message was too large.',
  1011: 'Internal server error.',
  1013: 'The service is overloaded; try again later.',
};

/** `configuring`: the service has not accepted the session yet, possibly because it rejected the settings. */
export type ConnectionPhase = 'connecting' | 'configuring' | 'ready' | 'ended';

/** One connection to `/v1/realtime` with its microphone and audio player. The caller closes it. */
export class RealtimeConnection {
  /** Loudness of the sent audio. */
  readonly track = new LoudnessTrack();
  readonly log = new EventLog();

  readonly #client: ServiceClient;
  readonly #socket: WebSocket;
  readonly #player: Player;
  readonly #abort = new AbortController();
  readonly #startMs = performance.now();
  readonly #openMicrophoneers = new Set<() => void>();
  #settings: ConversationSettings;
  #phase: ConnectionPhase = 'connecting';
  #closeReason = '';
  #conversation: Conversation = EMPTY_CONVERSATION;
  #microphone: Microphone | undefined;
  #microphoneError: string | undefined;
  #pushToTalk: PushToTalkTurn = UP;
  #sentMs = 0;
  #sentEvents = 0;
  #pcm = new PcmReader();
  /** Whether a language model request is running, and whether new turns arrived since it started. */
  #isReplyPending = false;
  #hasMore = false;
  /** A text that is synthesized when the current response ends; only the newest is retained. */
  #pendingText: string | undefined;
  #version = 0;

  /** @throws SyntaxError if the key has characters that a subprotocol must not contain. */
  constructor(client: ServiceClient, settings: ConversationSettings) {
    this.#client = client;
    this.#settings = settings;
    const { address, protocols } = client.socket('v1/realtime');
    this.#socket = new WebSocket(address, protocols);
    this.#player = new Player(SPEECH_RATE_HZ, () => this.#notify());
    this.#socket.onmessage = ({ data }) => this.#receive(JSON.parse(data as string) as ServerEvent);
    this.#socket.onclose = ({ code, reason }) => {
      const wasReady = this.#phase === 'ready';
      const message = CLOSE_MESSAGES[code] ?? `Connection closed (${code}).`;
      this.#close(reason === '' ? message : `${message} ${reason}`);
      if (!wasReady) void this.#fetchHandshakeError();
    };
  }

  /** @returns a function that removes the listener. */
  subscribe = (listener: () => void): (() => void) => {
    this.#openMicrophoneers.add(listener);
    return () => this.#openMicrophoneers.delete(listener);
  };

  /** Increases with every change, except changes of {@link track}. */
  version = (): number => this.#version;

  get phase(): ConnectionPhase {
    return this.#phase;
  }

  /** Why the connection ended, for the user; empty if the user closed it. */
  get closeReason(): string {
    return this.#closeReason;
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  get hasMicrophone(): boolean {
    return this.#microphone !== undefined;
  }

  get microphoneError(): string | undefined {
    return this.#microphoneError;
  }

  get isButtonDown(): boolean {
    return this.#pushToTalk.kind === 'down';
  }

  /** Whether synthesized audio is playing or still expected. */
  get isSpeaking(): boolean {
    return this.#conversation.response !== undefined || this.#player.playing;
  }

  /** Changes the settings, also during a connection. */
  configure(settings: ConversationSettings): void {
    if (settings === this.#settings) return;
    this.#settings = settings;
    this.#stopPushToTalk();
    if (this.#phase === 'configuring' || this.#phase === 'ready') this.#sendSession();
    this.#notify();
  }

  /** Starts a push-to-talk turn. */
  press(): void {
    if (this.#microphone === undefined || !this.#isPushToTalk || this.isButtonDown) return;
    if (this.#pushToTalk.kind === 'up') this.track.startMark(this.#sentMs);
    this.#pushToTalk = pressed(this.#pushToTalk, this.#sentMs);
    this.#notify();
  }

  /** Ends the push-to-talk turn after the current audio block. */
  release(): void {
    this.#pushToTalk = released(this.#pushToTalk, performance.now());
    this.#notify();
  }

  /** Synthesizes a text; cancels the current response. */
  speak(text: string): void {
    if (this.#phase !== 'ready') return;
    if (this.#conversation.response !== undefined) {
      this.cancel();
      this.#pendingText = text;
      return;
    }
    this.#player.stop();
    this.#pcm = new PcmReader();
    const content = [{ type: 'input_text', text }];
    const item = { type: 'message', role: 'user', content };
    const textEventId = this.#send({ type: 'conversation.item.create', item });
    const eventId = this.#send({ type: 'response.create' });
    this.#dispatch({ type: 'page.requested', eventId, textEventId, text });
  }

  /** Cancels the current response. */
  cancel(): void {
    const { response } = this.#conversation;
    this.#pendingText = undefined;
    this.#player.stop();
    if (response !== undefined && !response.isCancelled) {
      this.#dispatch({ type: 'page.cancelled', eventId: this.#send({ type: 'response.cancel' }) });
    }
    this.#notify();
  }

  close(): void {
    this.#close('');
  }

  #receive(event: ServerEvent): void {
    this.log.add('server', event, this.#atMs);
    this.#conversation = reduceConversation(this.#conversation, event, performance.now());
    this.#applyEffects(event);
    this.#notify();
  }

  /** Side effects of an event. */
  #applyEffects(event: ServerEvent): void {
    switch (event.type) {
      case 'session.created':
        this.#phase = 'configuring';
        this.#sendSession();
        break;
      case 'session.updated':
        this.#onSessionReady();
        break;
      case 'input_audio_buffer.speech_started':
        this.track.startMark(event.audio_start_ms);
        break;
      case 'input_audio_buffer.speech_stopped':
        this.track.endMark(event.audio_end_ms);
        break;
      case 'conversation.item.input_audio_transcription.completed':
        this.#respond(event.transcript);
        break;
      case 'response.audio.delta':
        if (this.#conversation.response?.isCancelled !== true) {
          this.#player.play(this.#pcm.read(bytesOf(event.delta)), SPEECH_RATE_HZ);
        }
        break;
      case 'error':
        // The response is already requested; without its text it would repeat the previous one.
        if (isRefusedText(this.#conversation, event) && this.#pendingText === undefined) this.cancel();
        this.#speakPendingText();
        break;
      case 'response.done':
        this.#speakPendingText();
        break;
    }
  }

  /** Called when the service accepted the session. */
  #onSessionReady(): void {
    if (this.#phase !== 'configuring') return;
    this.#phase = 'ready';
    void this.#openMicrophone();
  }

  #speakPendingText(): void {
    const text = this.#pendingText;
    if (text === undefined || this.#conversation.response !== undefined) return;
    this.#pendingText = undefined;
    this.speak(text);
  }

  #respond(transcript: string): void {
    if (transcript.trim() === '') return;
    const { responseMode } = this.#settings;
    if (responseMode === 'echo') this.speak(transcript);
    if (responseMode === 'model') void this.#requestModelReply();
  }

  /** One request at a time: turns that complete during a request share the next one. */
  async #requestModelReply(): Promise<void> {
    this.#hasMore = true;
    if (this.#isReplyPending) return;
    this.#isReplyPending = true;
    const { signal } = this.#abort;
    try {
      while (this.#hasMore && !signal.aborted) {
        this.#hasMore = false;
        const { languageModel } = this.#settings;
        const text = await requestReply(this.#client, languageModel, this.#conversation.turns, signal);
        if (text !== '') this.speak(text);
      }
    } catch (error) {
      if (!signal.aborted) this.#showSpeechError(toServiceError(error).message);
    } finally {
      this.#isReplyPending = false;
    }
  }

  #showSpeechError(message: string): void {
    this.#conversation = { ...this.#conversation, speechError: message };
    this.#notify();
  }

  async #openMicrophone(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const listener = {
        onBlock: (block: Samples) => this.#sendBlock(block),
        onEnd: (message: string) => this.#lostMicrophone(message),
      };
      this.#microphone = await Microphone.open('talk', listener, signal);
      if (this.#microphone.rateHz !== DEFAULT_RATE_HZ) this.#sendSession();
    } catch (error) {
      if (isAbort(error)) return;
      this.#lostMicrophone(toServiceError(error).message);
    }
    this.#notify();
  }

  #lostMicrophone(message: string): void {
    this.#stopPushToTalk();
    this.#microphone?.close();
    this.#microphone = undefined;
    this.#microphoneError = message;
    this.#notify();
  }

  get #isPushToTalk(): boolean {
    return this.#settings.turns === 'hold';
  }

  #sendBlock(block: Samples): void {
    const microphone = this.#microphone;
    if (microphone === undefined || (this.#isPushToTalk && this.#pushToTalk.kind === 'up')) return;
    if (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      this.#close('The network is too slow for live audio.');
      return;
    }
    this.#send({ type: 'input_audio_buffer.append', audio: base64Of(block) });
    this.#sentMs += (block.length / microphone.rateHz) * 1000;
    this.track.add(block, microphone.rateHz);
    this.#commitPushToTalk();
    this.#notify();
  }

  /** Ends a push-to-talk turn with the audio sent so far. */
  #stopPushToTalk(): void {
    this.release();
    this.#commitPushToTalk();
  }

  /** Commits the released turn for transcription. */
  #commitPushToTalk(): void {
    if (this.#pushToTalk.kind !== 'ending') return;
    const turn = completed(this.#pushToTalk, this.#sentMs);
    this.#pushToTalk = UP;
    this.track.endMark(this.#sentMs);
    if (turn === undefined) return;
    this.#send({ type: 'input_audio_buffer.commit' });
    this.#dispatch({ type: 'page.committed', turn });
  }

  #sendSession(): void {
    const rateHz = this.#microphone?.rateHz ?? DEFAULT_RATE_HZ;
    this.#send({ type: 'session.update', session: sessionOf(this.#settings, rateHz) });
    this.#dispatch({ type: 'page.configured' });
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

  #dispatch(dispatch: UserAction): void {
    this.#conversation = reduceConversation(this.#conversation, dispatch, performance.now());
    this.#notify();
  }

  #close(message: string): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#closeReason = message;
    this.#pushToTalk = UP;
    this.#abort.abort();
    this.#microphone?.close();
    this.#microphone = undefined;
    this.#player.close();
    this.track.endMark(this.#sentMs);
    this.#socket.onmessage = null;
    this.#socket.onclose = null;
    this.#socket.close(1000);
    this.#dispatch({ type: 'page.ended' });
  }

  /**
   * Browsers do not expose why a WebSocket handshake failed. The same request over HTTP returns the error.
   */
  async #fetchHandshakeError(): Promise<void> {
    try {
      await this.#client.get('v1/realtime', { signal: AbortSignal.timeout(HANDSHAKE_ERROR_TIMEOUT_MS) });
    } catch (thrown) {
      const error = toServiceError(thrown);
      // The expected response to a request without an upgrade: there is no other error to show.
      if (error.status === UPGRADE_REQUIRED || error.status === 0) return;
      this.#closeReason = error.message;
      this.#notify();
    }
  }

  #notify(): void {
    this.#version += 1;
    for (const listener of this.#openMicrophoneers) listener();
  }
}

const UPGRADE_REQUIRED = 426;
const HANDSHAKE_ERROR_TIMEOUT_MS = 5000;
