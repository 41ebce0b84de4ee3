import type { ClipFacts, ClipReader } from '../../../src/contract/engines/video.ts';
import { FairSemaphore } from '../../../src/kit/limits/fair-semaphore.ts';

/** The core count of a small machine. The reader additionally rejects work above its own capacity. */
const CONCURRENCY = 2;
const MAX_QUEUED = 128;
/** Thumbnails of generated segments precede new clips. */
const PRIORITIES = { thumbnail: 0, measure: 1 };

/** Reads clips with limited concurrency. Waiting reads are scheduled fairly by organization. */
export class ClipQueue {
  readonly #clips: Pick<ClipReader, 'measure' | 'thumbnail'>;
  readonly #semaphore = new FairSemaphore({
    maxConcurrent: CONCURRENCY,
    maxConcurrentPerKey: CONCURRENCY,
    maxQueued: MAX_QUEUED,
  });

  constructor(clips: Pick<ClipReader, 'measure' | 'thumbnail'>) {
    this.#clips = clips;
  }

  /** @throws as {@link ClipReader.measure}, with param `video`; ServiceError `overloaded` if the queue is full. */
  async measure(path: string, organization: string, signal: AbortSignal): Promise<ClipFacts> {
    const release = await this.#semaphore.acquire(organization, signal, PRIORITIES.measure);
    try {
      return await this.#clips.measure(path, 'video', signal);
    } finally {
      release();
    }
  }

  /** @throws as {@link ClipReader.thumbnail}; ServiceError `overloaded` if the queue is full. */
  async thumbnail(path: string, to: string, organization: string, signal: AbortSignal): Promise<void> {
    const release = await this.#semaphore.acquire(organization, signal, PRIORITIES.thumbnail);
    try {
      await this.#clips.thumbnail(path, to, signal);
    } finally {
      release();
    }
  }
}
