/**
 * Pauses the process of a language model while urgent audio inference needs the cores. Both would otherwise slow each other
 * down: the threads of llama.cpp wait for each other many times in a step, and so do those of ONNX Runtime. The process is
 * stopped by a signal, because a step that has started takes up to a tenth of a second. A pause is limited, and is followed by
 * time for steps, so that the model keeps a third of the time under a continuous load of audio.
 */

export const MAX_PAUSE_MS = 250;
/** Time without a pause after a pause of the maximum length. */
export const RUN_MS = 125;

/** A process that can be stopped and continued. */
export interface PausableProcess {
  pause(): void;
  resume(): void;
}

export class AudioPause {
  readonly #process: PausableProcess;
  #isUrgent = false;
  /** `free`: a pause may start. `running`: after a pause of the maximum length. */
  #state: 'free' | 'paused' | 'running' = 'free';
  /** End of the pause, or of the time without one. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(process: PausableProcess) {
    this.#process = process;
  }

  /** @param isUrgent whether urgent audio inference runs from now on. */
  setUrgent(isUrgent: boolean): void {
    this.#isUrgent = isUrgent;
    if (isUrgent && this.#state === 'free') this.#pause();
    else if (!isUrgent && this.#state === 'paused') {
      clearTimeout(this.#timer);
      this.#resume('free');
    }
  }

  /** Ends a pause. */
  close(): void {
    clearTimeout(this.#timer);
    if (this.#state === 'paused') this.#resume('free');
  }

  #pause(): void {
    this.#state = 'paused';
    this.#process.pause();
    this.#timer = setTimeout(() => {
      this.#resume('running');
      this.#timer = setTimeout(() => {
        this.#state = 'free';
        if (this.#isUrgent) this.#pause();
      }, RUN_MS);
    }, MAX_PAUSE_MS);
  }

  #resume(state: 'free' | 'running'): void {
    this.#state = state;
    this.#process.resume();
  }
}
