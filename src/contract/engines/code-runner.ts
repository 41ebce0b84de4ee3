/** Running programs that a model wrote, apart from everything else. */

export interface ProgramResult {
  /**
   * `done`: it ran to its end; `raised`: an exception ended it, which `error` tells; `cut`: a limit ended it, or
   * the interpreter broke, which `error` tells.
   */
  readonly status: 'done' | 'raised' | 'cut';
  /** What it printed, standard output and standard error in the order of printing. */
  readonly logs: string;
  /** `repr()` of the value of its last line, when that is an expression with another value than None. */
  readonly result?: string | undefined;
  /** A traceback, or which limit it was. */
  readonly error?: string | undefined;
  /** Whether names of earlier runs of the container were gone: a limit or a long pause had ended its interpreter. */
  readonly restarted: boolean;
}

/** What one response's programs share: names that one defines are there for the next. */
export interface CodeContainer {
  /**
   * Runs a program; one at a time.
   * @throws ServiceError `overloaded` when too many wait for an interpreter, or none can be started; `rate_limited`
   *   when too many of the organization wait; the signal's reason after an abort, which ends the program.
   */
  runProgram(code: string, signal: AbortSignal): Promise<ProgramResult>;
  /** Forgets everything. Idempotent. */
  close(): Promise<void>;
}

export interface CodeRunner {
  /**
   * A container with nothing in it. It holds no interpreter before its first run, but one is made ready.
   * @param owner API key: turns for interpreters are fair between owners.
   */
  openContainer(owner: string): CodeContainer;
}
