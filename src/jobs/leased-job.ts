import { shuttingDown } from '../contract/core/error.ts';

/** What a run knows of its job: that it has it, for so long. Its signal fires when that ends. */
export class LeasedJob {
  readonly #control = new AbortController();
  readonly #leaseMs: number;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
    this.renewed();
  }

  get signal(): AbortSignal {
    return this.#control.signal;
  }

  /** It has the job for one lease more, from now; nothing when that has ended. */
  renewed(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#timer = setTimeout(() => this.lost(), this.#leaseMs);
  }

  /** Another run has the job, or may have it. */
  lost(): void {
    this.#end(new Error('The job was given to another run.'));
  }

  /** This process stops. */
  stop(): void {
    this.#end(shuttingDown());
  }

  /** The run has ended. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #end(reason: Error): void {
    this.close();
    this.#control.abort(reason);
  }
}
