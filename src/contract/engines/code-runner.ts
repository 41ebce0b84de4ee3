/** Sandboxed execution of programs written by a model. */

export interface ProgramResult {
  /**
   * `done`: the program finished; `raised`: an exception ended it; `cut`: a limit or an interpreter crash
   * ended it. `error` has the details of the last two.
   */
  readonly status: 'done' | 'raised' | 'cut';
  /** Standard output and standard error, in the order of printing. */
  readonly logs: string;
  /** `repr()` of the last line, if it is an expression with a value other than None. */
  readonly result?: string | undefined;
  /** Traceback, or a description of the limit. */
  readonly error?: string | undefined;
  /**
   * Whether names defined by earlier runs were lost, because a limit or a long pause ended the interpreter.
   */
  readonly restarted: boolean;
}

/** State shared by the programs of one response: names defined by one program are available to the next. */
export interface CodeContainer {
  /**
   * Runs a program. Calls must not overlap.
   * @throws ServiceError `overloaded` if too many programs wait for an interpreter, or none can be started;
   *   `rate_limited` if too many programs of the API key wait; the signal's reason after an abort, which ends
   *   the program.
   */
  runProgram(code: string, signal: AbortSignal): Promise<ProgramResult>;
  /** Discards the state. Idempotent. */
  close(): Promise<void>;
}

export interface CodeRunner {
  /**
   * Creates an empty container. It uses no interpreter before its first run, but one is started in advance.
   * @param fairnessKey API key, for fair scheduling.
   */
  openContainer(fairnessKey: string): CodeContainer;
}
