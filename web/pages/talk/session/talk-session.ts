import type { LoudnessTrack } from '../../../audio/display/loudness-track.ts';
import { MicrophoneInput } from '../../../audio/input/microphone-input.ts';
import { base64Of, type Samples } from '../../../audio/pcm.ts';
import { ChangeNotifier } from '../../../client/change-notifier.ts';
import { RealtimeSocket } from '../../../client/realtime-socket.ts';
import type { ServiceClient } from '../../../client/service-client.ts';
import type { PageConnection } from '../../../client/use-connection.ts';
import { sessionOf, type TalkSettings } from '../settings/talk-settings.ts';
import { type Effect, next, type PageEvent } from '../state/session-reducer.ts';
import { INITIAL_STATE, type SessionState } from '../state/session-state.ts';
import type { ServerEvent } from '../state/wire.ts';
import { findExampleTool, runExampleTool } from '../tools/example-tools.ts';
import { runnableTools } from '../tools/tool-list.ts';
import { awaitModel } from './await-model.ts';
import { ReplyPlayer } from './reply-player.ts';

/** Sample rate of the session until the microphone is open, in Hz. */
const DEFAULT_RATE_HZ = 24_000;
/** Number of handshakes that may fail without a reason of the service, for example in a proxy without WebSockets. */
const MAX_UNEXPLAINED_FAILURES = 2;

/** A conversation with its connection, microphone and player. The caller closes it. */
export class TalkSession implements PageConnection {
  /** Changes, except those of {@link track} and of the playback. */
  readonly changes = new ChangeNotifier();
  readonly #client: ServiceClient;
  readonly #player: ReplyPlayer;
  readonly #microphone: MicrophoneInput;
  readonly #abort = new AbortController();
  readonly #model: string | undefined;
  #socket: RealtimeSocket;
  #settings: TalkSettings;
  #state: SessionState = INITIAL_STATE;
  #microphoneError: string | undefined;
  #unexplainedFailures = 0;

  /**
   * Must be created in the handler of a user gesture: browsers block audio otherwise.
   * @throws SyntaxError if the key has characters that a subprotocol must not contain.
   */
  constructor(client: ServiceClient, settings: TalkSettings) {
    this.#client = client;
    this.#settings = settings;
    this.#model = settings.model;
    this.#socket = this.#connect();
    this.#player = new ReplyPlayer(() => this.#dispatch({ type: 'page.played' }));
    this.#microphone = new MicrophoneInput({
      onOpen: () => {
        if (this.#microphone.rateHz !== DEFAULT_RATE_HZ) this.#configure();
      },
      onBlock: (block) => this.#sendBlock(block),
      onTurn: (turn) => this.#dispatch({ type: 'page.released', turn }),
      onUnavailable: (message) => {
        this.#microphoneError = message;
      },
      onChange: () => this.changes.notify(),
    });
    this.#microphone.isPaused = true;
    this.#microphone.setPushToTalk(settings.mode === 'push_to_talk');
    void this.#microphone.open();
  }

  get state(): SessionState {
    return this.#state;
  }

  get isEnded(): boolean {
    return this.#state.phase === 'ended';
  }

  /** Loudness of the sent audio. */
  get track(): LoudnessTrack {
    return this.#microphone.track;
  }

  get hasMicrophone(): boolean {
    return this.#microphone.isOpen;
  }

  get microphoneError(): string | undefined {
    return this.#microphoneError;
  }

  /** Played audio of a message in ms. */
  playedMs(itemId: string): number {
    return this.#player.items.find((item) => item.itemId === itemId)?.playedMs ?? 0;
  }

  /** Changes the settings, also during the conversation. The model and the voice apply to the next one. */
  configure(settings: TalkSettings): void {
    if (settings === this.#settings) return;
    const isOtherMode = settings.mode !== this.#settings.mode;
    this.#settings = settings;
    if (isOtherMode) this.#microphone.setPushToTalk(settings.mode === 'push_to_talk');
    this.#configure();
  }

  /** Starts a push-to-talk turn. */
  press(): void {
    if (this.#state.phase === 'ready' && this.#microphone.press()) this.#dispatch({ type: 'page.pressed' });
  }

  /** Ends the push-to-talk turn after the current audio block. */
  release(): void {
    this.#microphone.release();
  }

  /** Sends a typed message. */
  type(text: string): void {
    this.#dispatch({ type: 'page.typed', text });
  }

  /** Stops the answer. */
  stop(): void {
    this.#dispatch({ type: 'page.stopped' });
  }

  /** Sends the output of a function that the browser does not run. */
  sendToolOutput(callId: string, output: string): void {
    this.#dispatch({ type: 'page.tool_output', callId, output });
  }

  close(): void {
    this.#close(undefined);
  }

  #connect(): RealtimeSocket {
    return new RealtimeSocket(this.#client, this.#query, {
      onEvent: (event) => this.#dispatch(event as unknown as ServerEvent),
      onClose: (message, wasOpen) => {
        if (wasOpen) this.#close(message);
        else void this.#retry(message);
      },
    });
  }

  get #query() {
    return { model: this.#model };
  }

  /** Connects again when the model is loaded; ends the session for any other reason of the failed handshake. */
  async #retry(message: string): Promise<void> {
    const { signal } = this.#abort;
    try {
      this.#unexplainedFailures += 1;
      const onLoading = (progress: string) => {
        this.#unexplainedFailures = 0;
        this.#dispatch({ type: 'page.loading', message: progress });
      };
      const error = await awaitModel(this.#client, this.#query, onLoading, signal);
      if (error !== undefined) this.#close(error.status === 0 ? message : error.message);
      else if (this.#unexplainedFailures < MAX_UNEXPLAINED_FAILURES) this.#socket = this.#connect();
      else this.#close(message);
    } catch {
      this.#close(message);
    }
  }

  #configure(): void {
    const { phase, defaults } = this.#state;
    if (phase === 'ended' || defaults === undefined) return;
    const rateHz = this.#microphone.rateHz ?? DEFAULT_RATE_HZ;
    this.#socket.send({ type: 'session.update', session: sessionOf(this.#settings, defaults, rateHz) });
  }

  #sendBlock(block: Samples): void {
    if (this.#socket.isCongested) this.#close('The network is too slow for live audio.');
    else this.#socket.send({ type: 'input_audio_buffer.append', audio: base64Of(block) });
  }

  #dispatch(event: ServerEvent | PageEvent): void {
    const { exampleTools, customTools } = this.#settings;
    const { state, effects } = next(this.#state, event, {
      nowMs: performance.now(),
      inputStartMs: this.#microphone.startMs,
      playback: this.#player.items,
      runsTool: (name) => runnableTools(exampleTools, customTools).some((tool) => tool.name === name),
    });
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    this.changes.notify();
  }

  #perform(effect: Effect): void {
    switch (effect.kind) {
      case 'configure':
        this.#configure();
        break;
      case 'start_input':
        this.#microphone.isPaused = false;
        break;
      case 'send':
        this.#socket.send(effect.frame);
        break;
      case 'play':
        this.#player.play(effect.itemId, effect.audio);
        break;
      case 'stop_playback':
        this.#player.stop();
        break;
      case 'call_tool':
        void this.#callTool(effect);
        break;
      default:
        effect satisfies never;
    }
  }

  /** The output is dispatched after the effects of the event that called the function. */
  async #callTool({ callId, name, arguments: args }: Effect & { kind: 'call_tool' }): Promise<void> {
    await Promise.resolve();
    const tool = findExampleTool(name);
    if (tool !== undefined) this.sendToolOutput(callId, runExampleTool(tool, args));
  }

  /** @param message why the session ended; undefined if the user ended it. */
  #close(message: string | undefined): void {
    if (this.isEnded) return;
    this.#abort.abort();
    this.#dispatch({ type: 'page.closed', message });
    this.#microphone.close();
    this.#player.close();
    this.#socket.close();
  }
}
