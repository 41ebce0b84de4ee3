import { shuttingDown } from '../contract/core/error.ts';

/** Lease of a run on its job. Its signal fires when the lease ends. */
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

  /** Extends the lease from now; does nothing if it has ended. */
  renewed(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#timer = setTimeout(() => this.lost(), this.#leaseMs);
  }

  /** The job was, or may have been, assigned to another run. */
  lost(): void {
    this.#end(new Error('The job was assigned to another run.'));
  }

  /** This process is shutting down. */
  stop(): void {
    this.#end(shuttingDown());
  }

  /** The run has finished. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #end(reason: Error): void {
    this.close();
    this.#control.abort(reason);
  }
}
