import type { Id } from '../../src/contract/id.ts';
import type { JobQueue } from '../../src/contract/jobs.ts';
import type { Logger } from '../../src/contract/logger.ts';
import type { VoiceFitter } from '../../src/contract/voice.ts';
import type { VoiceStore } from '../../src/contract/voice-store.ts';

const EVERY_MS = 30_000;
/** Of one look into the store. */
const AT_ONCE = 100;

export interface VoiceWatchParts {
  readonly voices: Pick<VoiceStore, 'adaptations' | 'outdate' | 'improving'>;
  readonly voiceFitter: Pick<VoiceFitter, 'isNeeded' | 'isCurrent'>;
  readonly jobs: Pick<JobQueue, 'add'>;
  readonly log: Logger;
  readonly everyMs?: number;
}

/**
 * Finds voices that have work left. At the start: those whose adaptation the models of today cannot use. Then, from time to
 * time: those that the queue has lost, or that nobody could tell it of. Those that it knows are left as they are.
 */
export class VoiceWatch {
  readonly #parts: VoiceWatchParts;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #stopped = new AbortController();
  /** The look that is under way: while the queue is slow there is none beside it. */
  #looking: Promise<void> | undefined;
  #hasSeenAll = false;

  constructor(parts: VoiceWatchParts) {
    this.#parts = parts;
    this.#begin();
    this.#timer = setInterval(() => this.#begin(), parts.everyMs ?? EVERY_MS);
    this.#timer.unref();
  }

  /** Resolves when nothing is looked at any more. Idempotent. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopped.abort();
    await this.#looking;
  }

  #begin(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  async #look(): Promise<void> {
    try {
      if (!this.#hasSeenAll) await this.#outdate();
      await this.#queueAll();
    } catch (error) {
      this.#parts.log.error('voices could not be queued', error);
    }
  }

  /** Marks the voices that must be fitted anew, and forgets what cannot be used. */
  async #outdate(): Promise<void> {
    const { voices, voiceFitter } = this.#parts;
    if (voiceFitter.isNeeded) {
      for await (const { id, adaptation } of this.#pages((after) => voices.adaptations(AT_ONCE, after))) {
        if (adaptation !== undefined && voiceFitter.isCurrent(adaptation)) continue;
        await voices.outdate(id, adaptation);
      }
    }
    this.#hasSeenAll = !this.#stopped.signal.aborted;
  }

  async #queueAll(): Promise<void> {
    const { voices, jobs } = this.#parts;
    const pages = this.#pages(async (after) =>
      (await voices.improving(AT_ONCE, after)).map((id) => ({ id })),
    );
    for await (const { id } of pages) await jobs.add('voice', id);
  }

  /** All of them, until this is closed. */
  async *#pages<Voice extends { readonly id: Id<'voice'> }>(
    next: (after: Id<'voice'> | undefined) => Promise<readonly Voice[]>,
  ): AsyncGenerator<Voice, void, undefined> {
    let after: Id<'voice'> | undefined;
    for (;;) {
      const page = await next(after);
      for (const voice of page) {
        if (this.#stopped.signal.aborted) return;
        yield voice;
      }
      after = page.at(-1)?.id;
      if (page.length < AT_ONCE) return;
    }
  }
}
