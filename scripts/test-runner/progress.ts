import { appendFileSync, readFileSync } from 'node:fs';

/** What the reporter writes and the runner reads: one JSON object a line, so that a crash of vitest loses at most one line. */

export type ProgressEvent =
  /** A file will be loaded: its path relative to the repository. */
  | { readonly type: 'start'; readonly file: string }
  /** A test has ended. */
  | { readonly type: 'test'; readonly file: string }
  /** A file has ended, with the results of all its tests. */
  | ({ readonly type: 'end' } & FileResult)
  /** vitest has ended, with errors outside of tests. */
  | { readonly type: 'finish'; readonly errors: readonly string[] };

/** The result of a test file. */
export interface FileResult {
  /** Path relative to the repository. */
  readonly file: string;
  readonly durationMs: number;
  readonly tests: readonly TestResult[];
  /** Errors outside of tests: of the import, of hooks. */
  readonly errors: readonly string[];
  /** The load of the machine when the file ended. */
  readonly load: string;
}

export interface TestResult {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** First line of the first error. */
  readonly error?: string;
}

/** The environment variable with the path of the file for the events. */
export const PROGRESS_FILE = 'TEST_PROGRESS_FILE';

export function writeProgress(path: string, event: ProgressEvent): void {
  appendFileSync(path, `${JSON.stringify(event)}\n`);
}

/** Reads events that are appended to a file. */
export class ProgressReader {
  readonly #path: string;
  #offset = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The complete events since the previous call. */
  next(): ProgressEvent[] {
    const text = readFileSync(this.#path).subarray(this.#offset);
    const end = text.lastIndexOf('\n') + 1;
    this.#offset += end;
    const lines = text.subarray(0, end).toString().split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ProgressEvent);
  }
}

/** Whether a file counts as failed. */
export function hasFailed({ tests, errors }: FileResult): boolean {
  return errors.length > 0 || tests.some(({ state }) => state === 'failed');
}
