import { FairSemaphore } from '../../kit/limits/fair-semaphore.ts';
import { type Wait, waitOnTimer } from './parse-turns.ts';

/** An upload waits for a turn after this number of bytes. */
export const UPLOAD_PIECE_BYTES = 1024 * 1024;
/** About as fast as a network of 1 Gbit/s. */
const BYTES_PER_SECOND = 128 * 1024 * 1024;
const PIECE_MS = (UPLOAD_PIECE_BYTES / BYTES_PER_SECOND) * 1000;

/**
 * Limits the rate of all uploads of this process together; API keys take turns, piece by piece. Without a limit, a few uploads
 * over a fast network keep the main thread and the disk busy, and a language model, which gets the cores last, waits: 16 tokens
 * took 0.6 s longer on two cores.
 */
export class UploadTurns {
  readonly #turns = new FairSemaphore({
    maxConcurrent: 1,
    maxConcurrentPerKey: 1,
    maxQueued: Number.POSITIVE_INFINITY,
  });
  readonly #wait: Wait;

  constructor(wait: Wait = waitOnTimer) {
    this.#wait = wait;
  }

  /**
   * Waits until an upload may receive its next piece of {@link UPLOAD_PIECE_BYTES}.
   * @param keyId API key of the upload.
   * @throws the signal's reason after an abort.
   */
  async next(keyId: string, signal: AbortSignal): Promise<void> {
    const release = await this.#turns.acquire(keyId, signal);
    void this.#wait(PIECE_MS).then(release);
  }
}
