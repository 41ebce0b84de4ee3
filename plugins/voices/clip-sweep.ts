import type { BlobStore } from '../../src/contract/blob-store.ts';
import type { Clock } from '../../src/contract/clock.ts';
import type { Id } from '../../src/contract/id.ts';
import type { Logger } from '../../src/contract/logger.ts';
import { clipBlob, type VoiceStore } from '../../src/contract/voice-store.ts';
import { prepareUploadFolder } from '../../src/http/multipart.ts';
import { unixSeconds } from '../../src/kit/clock.ts';

const EVERY_MS = 3_600_000;
/** A clip without a record that is younger may be of an enrollment that goes on. */
const ORPHAN_S = 86_400;
const AT_ONCE = 500;
const CLIPS = 'voices/';

export interface ClipSweepParts {
  readonly voices: Pick<VoiceStore, 'known'>;
  readonly blobs: Pick<BlobStore, 'list' | 'delete' | 'removeUnfinished'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where forms lie while they are worked on. */
  readonly uploads: string;
}

/** Removes clips that uploads, enrollments and deletions left whose process died, at the start and every hour. */
export class ClipSweep {
  readonly #parts: ClipSweepParts;
  readonly #stopped = new AbortController();
  readonly #timer: ReturnType<typeof setInterval>;
  #sweeping: Promise<void>;

  constructor(parts: ClipSweepParts) {
    this.#parts = parts;
    this.#sweeping = this.#sweep();
    this.#timer = setInterval(() => {
      this.#sweeping = this.#sweeping.then(() => this.#sweep());
    }, EVERY_MS);
    this.#timer.unref();
  }

  /** Resolves when nothing is swept any more. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort(new Error('the sweep was stopped'));
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#stopped;
    if (signal.aborted) return;
    const { blobs, clock, log, uploads } = this.#parts;
    try {
      const removed = {
        uploads: await prepareUploadFolder(uploads, clock),
        clips: await this.#removeOrphans(),
        unfinished: await blobs.removeUnfinished(signal),
      };
      if (Object.values(removed).some((count) => count > 0)) log.info('clips swept', removed);
    } catch (error) {
      if (!signal.aborted) log.error('clips could not be swept', error);
    }
  }

  async #removeOrphans(): Promise<number> {
    const { blobs, clock } = this.#parts;
    const now = unixSeconds(clock);
    let count = 0;
    let ids: Id<'voice'>[] = [];
    for await (const { name, changedAt } of blobs.list(CLIPS, this.#stopped.signal)) {
      if (changedAt > now - ORPHAN_S) continue;
      ids.push(name.slice(CLIPS.length) as Id<'voice'>);
      if (ids.length < AT_ONCE) continue;
      count += await this.#removeUnknown(ids);
      ids = [];
    }
    return count + (await this.#removeUnknown(ids));
  }

  async #removeUnknown(ids: readonly Id<'voice'>[]): Promise<number> {
    const { voices, blobs } = this.#parts;
    const known = await voices.known(ids);
    let count = 0;
    for (const id of ids) {
      if (known.has(id)) continue;
      this.#stopped.signal.throwIfAborted();
      if (await blobs.delete(clipBlob(id))) count += 1;
    }
    return count;
  }
}
