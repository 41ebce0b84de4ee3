/** A process that checks one input file, as the serving process holds it: what it is sent, its verdict, its end. */

import type { Subprocess } from 'bun';
import type { InputRules, InputVerdict } from './input-check.ts';

export interface InputCheckProcessOptions extends InputRules {
  /** Path of the entry file. */
  readonly entry: string;
  /** A process that takes longer for what lies in its pipe, or for its verdict after the last bytes, has hung. */
  readonly stallLimitMs: number;
}

export class InputCheckProcess {
  readonly #child: Subprocess<'pipe', 'ignore', 'ignore'>;
  readonly #stallLimitMs: number;
  readonly #verdict = Promise.withResolvers<InputVerdict>();
  #stall: ReturnType<typeof setTimeout> | undefined;

  constructor({ entry, endpoint, mostLineBytes, stallLimitMs }: InputCheckProcessOptions) {
    this.#stallLimitMs = stallLimitMs;
    this.#child = Bun.spawn({
      cmd: [process.execPath, entry, endpoint, String(mostLineBytes)],
      env: {},
      // What a broken process writes may quote the file.
      stdio: ['pipe', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (message: InputVerdict) => this.#verdict.resolve(message),
    });
    this.#child.exited.then(() => this.#fail('ended before its verdict'));
  }

  /** May come before all bytes were sent. Rejects when the process ends or hangs without one. */
  get verdict(): Promise<InputVerdict> {
    return this.#verdict.promise;
  }

  /** Sends bytes of the file; resolves when there is room for more, or when the process has gone. */
  async send(bytes: Uint8Array): Promise<void> {
    this.#watch();
    try {
      this.#child.stdin.write(bytes);
      await this.#child.stdin.flush();
    } catch {
      // It reads no more: its verdict or its end is on the way.
    }
    clearTimeout(this.#stall);
  }

  /** Says that these were all bytes. */
  async end(): Promise<void> {
    this.#watch();
    try {
      await this.#child.stdin.end();
    } catch {
      // As above.
    }
  }

  /** Resolves when the process is gone. */
  async kill(): Promise<void> {
    clearTimeout(this.#stall);
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }

  #watch(): void {
    clearTimeout(this.#stall);
    this.#stall = setTimeout(() => this.#fail('hangs'), this.#stallLimitMs);
  }

  #fail(how: string): void {
    this.#verdict.reject(new Error(`The process that checks an input file ${how}.`));
  }
}
