import type { ServerEvent } from '../../../plugins/realtime/protocol/server-events.ts';
import type { LoudnessTrack } from '../../audio/display/loudness-track.ts';
import { MicrophoneInput } from '../../audio/input/microphone-input.ts';
import type { FinishedTurn } from '../../audio/input/push-to-talk.ts';
import { base64Of, bytesOf, PcmReader, type Samples } from '../../audio/pcm.ts';
import { Player } from '../../audio/playback/player.ts';
import { ChangeNotifier } from '../../client/change-notifier.ts';
import { type Frame, handshakeError, RealtimeSocket } from '../../client/realtime-socket.ts';
import type { ServiceClient } from '../../client/service-client.ts';
import { toServiceError } from '../../client/service-error.ts';
import type { PageConnection } from '../../client/use-connection.ts';
import {
  type Conversation,
  EMPTY_CONVERSATION,
  isRefusedText,
  reduceConversation,
  type UserAction,
} from './conversation.ts';
import { type ConversationSettings, SPEECH_RATE_HZ, sessionOf } from './conversation-settings.ts';
import { EventLog } from './event-log.ts';
import { requestReply } from './model-reply.ts';

/** Sample rate of the session until the microphone is open, in Hz. */
const DEFAULT_RATE_HZ = 24_000;
const HANDSHAKE_ERROR_TIMEOUT_MS = 5000;

/** `configuring`: the service has not accepted the session yet, possibly because it rejected the settings. */
export type ConnectionPhase = 'connecting' | 'configuring' | 'ready' | 'ended';

/** One connection to `/v1/realtime` with its microphone and audio player. The caller closes it. */
export class RealtimeConnection implements PageConnection {
  /** Changes, except those of {@link track}. */
  readonly changes = new ChangeNotifier();
  readonly log = new EventLog();

  readonly #client: ServiceClient;
  readonly #socket: RealtimeSocket;
  readonly #player: Player;
  readonly #microphone: MicrophoneInput;
  readonly #abort = new AbortController();
  readonly #startMs = performance.now();
  #settings: ConversationSettings;
  #phase: ConnectionPhase = 'connecting';
  #closeReason = '';
  #conversation: Conversation = EMPTY_CONVERSATION;
  #microphoneError: string | undefined;
  #pcm = new PcmReader();
  /** Whether a language model request is running, and whether new turns arrived since it started. */
  #isReplyPending = false;
  #hasMore = false;
  /** A text that is synthesized when the current response ends; only the newest is retained. */
  #pendingText: string | undefined;

  /** @throws SyntaxError if the key has characters that a subprotocol must not contain. */
  constructor(client: ServiceClient, settings: ConversationSettings) {
    this.#client = client;
    this.#settings = settings;
    this.#socket = new RealtimeSocket(
      client,
      {},
      {
        onEvent: (event) => this.#receive(event as unknown as ServerEvent),
        onSent: (event) => this.log.add('client', event, this.#atMs),
        onClose: (message, wasOpen) => {
          this.#close(message);
          if (!wasOpen) void this.#showHandshakeError();
        },
      },
    );
    this.#player = new Player(SPEECH_RATE_HZ, () => this.changes.notify());
    this.#microphone = new MicrophoneInput({
      onOpen: () => {
        if (this.#microphone.rateHz !== DEFAULT_RATE_HZ) this.#sendSession();
      },
      onBlock: (block) => this.#sendBlock(block),
      onTurn: (turn) => this.#commit(turn),
      onUnavailable: (message) => {
        this.#microphoneError = message;
      },
      onChange: () => this.changes.notify(),
    });
    this.#microphone.setPushToTalk(settings.turns === 'hold');
  }

  /** Loudness of the sent audio. */
  get track(): LoudnessTrack {
    return this.#microphone.track;
  }

  get isEnded(): boolean {
    return this.#phase === 'ended';
  }

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
    return this.#microphone.isOpen;
  }

  get microphoneError(): string | undefined {
    return this.#microphoneError;
  }

  get isButtonDown(): boolean {
    return this.#microphone.isButtonDown;
  }

  /** Whether synthesized audio is playing or still expected. */
  get isSpeaking(): boolean {
    return this.#conversation.response !== undefined || this.#player.playing;
  }

  /** Changes the settings, also during a connection. */
  configure(settings: ConversationSettings): void {
    if (settings === this.#settings) return;
    this.#settings = settings;
    this.#microphone.setPushToTalk(settings.turns === 'hold');
    if (this.#phase === 'configuring' || this.#phase === 'ready') this.#sendSession();
    this.changes.notify();
  }

  /** Starts a push-to-talk turn. */
  press(): void {
    this.#microphone.press();
  }

  /** Ends the push-to-talk turn after the current audio block. */
  release(): void {
    this.#microphone.release();
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
    this.changes.notify();
  }

  close(): void {
    this.#close('');
  }

  #receive(event: ServerEvent): void {
    this.log.add('server', event, this.#atMs);
    this.#conversation = reduceConversation(this.#conversation, event, performance.now());
    this.#applyEffects(event);
    this.changes.notify();
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
    void this.#microphone.open();
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
    this.changes.notify();
  }

  #sendBlock(block: Samples): void {
    if (this.#socket.isCongested) {
      this.#close('The network is too slow for live audio.');
      return;
    }
    this.#send({ type: 'input_audio_buffer.append', audio: base64Of(block) });
  }

  /** Commits a push-to-talk turn for transcription. */
  #commit(turn: FinishedTurn | undefined): void {
    if (turn === undefined) return;
    this.#send({ type: 'input_audio_buffer.commit' });
    this.#dispatch({ type: 'page.committed', turn });
  }

  #sendSession(): void {
    const rateHz = this.#microphone.rateHz ?? DEFAULT_RATE_HZ;
    this.#send({ type: 'session.update', session: sessionOf(this.#settings, rateHz) });
    this.#dispatch({ type: 'page.configured' });
  }

  /** @returns the id of the event. */
  #send(event: Frame): string {
    return this.#socket.send(event);
  }

  get #atMs(): number {
    return performance.now() - this.#startMs;
  }

  #dispatch(dispatch: UserAction): void {
    this.#conversation = reduceConversation(this.#conversation, dispatch, performance.now());
    this.changes.notify();
  }

  #close(message: string): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#closeReason = message;
    this.#abort.abort();
    this.#microphone.close();
    this.#player.close();
    this.#socket.close();
    this.#dispatch({ type: 'page.ended' });
  }

  async #showHandshakeError(): Promise<void> {
    const signal = AbortSignal.timeout(HANDSHAKE_ERROR_TIMEOUT_MS);
    const error = await handshakeError(this.#client, {}, signal).catch(() => undefined);
    if (error === undefined || error.status === 0) return;
    this.#closeReason = error.message;
    this.changes.notify();
  }
}
