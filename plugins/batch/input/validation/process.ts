/** A process that checks one input file, as the serving process holds it: what it reads, its verdict, its end. */

import type { FileSink, Subprocess } from 'bun';
import type { BlobFile } from '../../../../src/contract/stores/blob-store.ts';
import type { InputRules, InputVerdict } from './validator.ts';

export interface InputCheckProcessOptions extends InputRules {
  /** Path of the entry file. */
  readonly entry: string;
  /** A process that says nothing for longer, neither that it reads nor its verdict, has hung. */
  readonly stallLimitMs: number;
  /** What it reads, which may be closed when the process is there; undefined where bytes are sent. */
  readonly file: BlobFile | undefined;
}

/** What such a process says: that it has read some more, in the end its verdict. */
export type InputCheckMessage = { readonly kind: 'reads' } | InputVerdict;

export class InputCheckProcess {
  readonly #child: Subprocess;
  readonly #pipe: FileSink | undefined;
  readonly #stallLimitMs: number;
  readonly #verdict = Promise.withResolvers<InputVerdict>();
  #stall: ReturnType<typeof setTimeout> | undefined;

  constructor({ entry, endpoint, maxLineBytes, stallLimitMs, file }: InputCheckProcessOptions) {
    this.#stallLimitMs = stallLimitMs;
    const child = Bun.spawn({
      cmd: [process.execPath, entry, endpoint, String(maxLineBytes)],
      env: {},
      // What a broken process writes may quote the file.
      stdio: [file?.fd ?? 'pipe', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: (message: InputCheckMessage) => this.#hear(message),
    });
    child.exited.then(() => this.#fail('ended before its verdict'));
    this.#child = child;
    this.#pipe = typeof child.stdin === 'object' ? child.stdin : undefined;
    if (file !== undefined) this.#watch();
  }

  /** May come before all bytes were sent. Rejects when the process ends or hangs without one. */
  get verdict(): Promise<InputVerdict> {
    return this.#verdict.promise;
  }

  /** Sends bytes of the file; resolves when there is room for more, or when the process has gone. */
  async send(bytes: Uint8Array): Promise<void> {
    this.#watch();
    try {
      this.#pipe?.write(bytes);
      await this.#pipe?.flush();
    } catch {
      // It reads no more: its verdict or its end is on the way.
    }
    this.#rest();
  }

  /** Says that these were all bytes. */
  async end(): Promise<void> {
    this.#watch();
    try {
      await this.#pipe?.end();
    } catch {
      // As above.
    }
  }

  /** Resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#rest();
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }

  #hear(message: InputCheckMessage): void {
    if (message.kind !== 'reads') this.#verdict.resolve(message);
    else if (this.#stall !== undefined) this.#watch();
  }

  #watch(): void {
    this.#rest();
    this.#stall = setTimeout(() => this.#fail('hangs'), this.#stallLimitMs);
  }

  /** For as long as there is nothing that it should do. */
  #rest(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }

  #fail(how: string): void {
    this.#verdict.reject(new Error(`The process that checks an input file ${how}.`));
  }
}
