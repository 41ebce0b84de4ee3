import type { ClipFacts, ClipReader } from '../../../src/contract/engines/video.ts';
import { FairSemaphore } from '../../../src/kit/limits/fair-semaphore.ts';

/** As many as a small machine has cores; the reader itself refuses what is too much for it. */
const AT_ONCE = 2;
const MAX_WAITING = 128;
/** What has been made goes before what may be. */
const RANKS = { thumbnail: 0, measure: 1 };

/** Reads clips, a few at once; the others wait, and organizations take turns. */
export class ClipTurns {
  readonly #clips: Pick<ClipReader, 'measure' | 'thumbnail'>;
  readonly #turns = new FairSemaphore({ maxConcurrent: AT_ONCE, maxConcurrentPerKey: AT_ONCE, maxQueued: MAX_WAITING });

  constructor(clips: Pick<ClipReader, 'measure' | 'thumbnail'>) {
    this.#clips = clips;
  }

  /** @throws as {@link ClipReader.measure}, about the field `video`; ServiceError `overloaded` when too many wait. */
  async measure(path: string, organization: string, signal: AbortSignal): Promise<ClipFacts> {
    const leave = await this.#turns.acquire(organization, signal, RANKS.measure);
    try {
      return await this.#clips.measure(path, 'video', signal);
    } finally {
      leave();
    }
  }

  /** @throws as {@link ClipReader.thumbnail}; ServiceError `overloaded` when too many wait. */
  async thumbnail(path: string, to: string, organization: string, signal: AbortSignal): Promise<void> {
    const leave = await this.#turns.acquire(organization, signal, RANKS.thumbnail);
    try {
      await this.#clips.thumbnail(path, to, signal);
    } finally {
      leave();
    }
  }
}
