import { isAbort, toServiceError } from '../../client/service-error.ts';
import { LoudnessTrack } from '../display/loudness-track.ts';
import type { Samples } from '../pcm.ts';
import { InputClock } from './input-clock.ts';
import { Microphone } from './microphone.ts';
import { completed, type FinishedTurn, type PushToTalkTurn, pressed, released, UP } from './push-to-talk.ts';

export interface MicrophoneInputListener {
  /** Called once when the microphone is open. */
  onOpen(): void;
  /** Called with each block that belongs to the input. */
  onBlock(samples: Samples): void;
  /** Called when all audio of a push-to-talk turn was passed to `onBlock`; undefined if it has no audio. */
  onTurn(turn: FinishedTurn | undefined): void;
  /** Called if the microphone is unavailable or disconnected, with a user-facing message. */
  onUnavailable(message: string): void;
  /** Called after every change. */
  onChange(): void;
}

/** Microphone audio of a realtime connection: all of it, or only while the push-to-talk button is down. The caller closes it. */
export class MicrophoneInput {
  /** Loudness of the input. */
  readonly track = new LoudnessTrack();
  readonly #listener: MicrophoneInputListener;
  readonly #abort = new AbortController();
  #microphone: Microphone | undefined;
  #turn: PushToTalkTurn = UP;
  #isPushToTalk = false;
  #isPaused = false;
  readonly #clock = new InputClock();
  #lengthMs = 0;

  constructor(listener: MicrophoneInputListener) {
    this.#listener = listener;
  }

  get isOpen(): boolean {
    return this.#microphone !== undefined;
  }

  get isButtonDown(): boolean {
    return this.#turn.kind === 'down';
  }

  /** Sample rate of the blocks in Hz; undefined until the microphone is open. */
  get rateHz(): number | undefined {
    return this.#microphone?.rateHz;
  }

  /** Time of the page clock that corresponds to offset 0 of the latest input; undefined before the first block. */
  get startMs(): number | undefined {
    return this.#clock.startMs;
  }

  /** Audio is discarded while the input is paused. */
  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused;
  }

  /** Requests access to the microphone. */
  async open(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const listener = {
        onBlock: (block: Samples) => this.#add(block),
        onEnd: (message: string) => this.#lose(message),
      };
      this.#microphone = await Microphone.open('talk', listener, signal);
    } catch (error) {
      if (!isAbort(error)) this.#lose(toServiceError(error).message);
      return;
    }
    this.#listener.onOpen();
    this.#listener.onChange();
  }

  /** Selects push to talk. Ends a turn in progress. */
  setPushToTalk(isPushToTalk: boolean): void {
    this.#stopTurn();
    this.#isPushToTalk = isPushToTalk;
    this.#listener.onChange();
  }

  /** Starts a push-to-talk turn. @returns whether a turn started. */
  press(): boolean {
    if (this.#microphone === undefined || !this.#isPushToTalk || this.isButtonDown) return false;
    if (this.#turn.kind === 'up') this.track.startMark(this.#lengthMs);
    this.#turn = pressed(this.#turn, this.#lengthMs);
    this.#listener.onChange();
    return true;
  }

  /** Ends the push-to-talk turn after the current block. */
  release(): void {
    this.#turn = released(this.#turn, performance.now());
    this.#listener.onChange();
  }

  close(): void {
    this.#abort.abort();
    this.#turn = UP;
    this.#microphone?.close();
    this.#microphone = undefined;
    this.track.endMark(this.#lengthMs);
  }

  #add(block: Samples): void {
    const { rateHz } = this;
    if (rateHz === undefined || this.#isPaused || (this.#isPushToTalk && this.#turn.kind === 'up')) return;
    this.#listener.onBlock(block);
    this.#lengthMs += (block.length / rateHz) * 1000;
    this.#clock.add(this.#lengthMs, performance.now());
    this.track.add(block, rateHz);
    this.#endTurn();
    this.#listener.onChange();
  }

  #lose(message: string): void {
    this.#stopTurn();
    this.#microphone?.close();
    this.#microphone = undefined;
    this.#listener.onUnavailable(message);
    this.#listener.onChange();
  }

  /** Ends a push-to-talk turn with the audio so far. */
  #stopTurn(): void {
    this.#turn = released(this.#turn, performance.now());
    this.#endTurn();
  }

  #endTurn(): void {
    if (this.#turn.kind !== 'ending') return;
    const turn = completed(this.#turn, this.#lengthMs);
    this.#turn = UP;
    this.track.endMark(this.#lengthMs);
    this.#listener.onTurn(turn);
  }
}
