/** A pure state machine and the code that performs its effects. */
export interface MachineOptions<State, Event, Effect> {
  readonly initial: State;
  readonly next: (
    state: State,
    event: Event,
  ) => { readonly state: State; readonly effects: readonly Effect[] };
  /** Performs an effect without waiting. It may dispatch events. */
  readonly perform: (effect: Effect) => void;
  /**
   * Handles an error of `next` or `perform`. The effects that were left are not performed. Returns the event
   * that is processed next, if any; it must not return an event that fails every time. An error that it throws is
   * thrown by `dispatch`; the next `dispatch` applies the events that were queued.
   */
  readonly failed: (error: unknown) => Event | undefined;
}

/**
 * Runs a state machine: applies one event at a time and performs its effects in order. An event that is
 * dispatched while another one is applied waits until that one is finished.
 */
export class MachineRunner<State, Event, Effect> {
  readonly #options: MachineOptions<State, Event, Effect>;
  readonly #events: Event[] = [];
  #state: State;
  #isRunning = false;

  constructor(options: MachineOptions<State, Event, Effect>) {
    this.#options = options;
    this.#state = options.initial;
  }

  get state(): State {
    return this.#state;
  }

  /** Applies an event and the events that it causes, or queues it behind the event that is being applied. */
  dispatch(event: Event): void {
    this.#events.push(event);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let first = this.#events.shift(); first !== undefined; first = this.#events.shift())
        this.#process(first);
    } finally {
      this.#isRunning = false;
    }
  }

  #process(event: Event): void {
    try {
      this.#apply(event);
    } catch (error) {
      const following = this.#options.failed(error);
      if (following !== undefined) this.#events.unshift(following);
    }
  }

  #apply(event: Event): void {
    const { state, effects } = this.#options.next(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#options.perform(effect);
  }
}
