/** Stored voices that a server was given under their ids, as far as this process knows (partner-and-upstreams B.1). */

import type { Id } from '../../../contract/core/id.ts';
import { type SpokenVoice, voiceDeleted } from '../../../contract/engines/spoken-voice.ts';
import { waitForAbort } from '../../../kit/async/wait-for-abort.ts';

/** As many as vLLM-Omni keeps unless told otherwise. A voice that is forgotten here is uploaded once more. */
const MAX_REMEMBERED = 1000;

/** One upload of a voice, which every request shares that needs it. */
export interface Registration {
  readonly uploaded: Promise<void>;
  /** Whether the server has had the voice for a while, and so may have lost it. */
  readonly isOver: boolean;
}

interface OwnRegistration extends Registration {
  readonly stop: AbortController;
}

export class RegisteredVoices {
  readonly #upload: (voice: SpokenVoice, signal: AbortSignal) => Promise<void>;
  readonly #most: number;
  /** In the order of their last use. */
  readonly #registrations = new Map<Id<'voice'>, OwnRegistration>();

  /**
   * @param upload is not stopped by whoever leaves: others may wait for it, and the next ones need it. Its signal fires
   *   when the voice is forgotten.
   */
  constructor(upload: (voice: SpokenVoice, signal: AbortSignal) => Promise<void>, most = MAX_REMEMBERED) {
    this.#upload = upload;
    this.#most = most;
  }

  /** The registration of a voice, begun now when there is none. One that fails is forgotten. */
  of(voice: SpokenVoice): Registration {
    const registration = this.#registrations.get(voice.id) ?? this.#begin(voice);
    this.#registrations.delete(voice.id);
    this.#registrations.set(voice.id, registration);
    const [oldest] = this.#registrations.keys();
    if (this.#registrations.size > this.#most && oldest !== undefined) this.#registrations.delete(oldest);
    return registration;
  }

  /** The server does not know the voice any more, unless it was given to it again since. */
  lost(voice: SpokenVoice, registration: Registration): void {
    if (this.#registrations.get(voice.id) === registration) this.#registrations.delete(voice.id);
  }

  /**
   * The voice was deleted, its clip too. Resolves when nothing of it is on its way to the server any more.
   * @param patience ends an upload that is under way. One that is let go to its end is sure to be there for a deletion;
   *   a server may store what it has got of one that was broken off.
   */
  async forget(id: Id<'voice'>, patience: AbortSignal): Promise<void> {
    const registration = this.#registrations.get(id);
    if (registration === undefined) return;
    const over = registration.uploaded.catch(() => undefined);
    await Promise.race([over, waitForAbort(patience)]);
    registration.stop.abort(voiceDeleted());
    await over;
    this.#registrations.delete(id);
  }

  #begin(voice: SpokenVoice): OwnRegistration {
    const stop = new AbortController();
    const uploaded = this.#upload(voice, stop.signal);
    const registration = { uploaded, stop, isOver: false };
    uploaded.then(
      () => {
        registration.isOver = true;
      },
      () => this.lost(voice, registration),
    );
    return registration;
  }
}

/** @throws what the upload throws, or the signal's reason after an abort. */
export async function waitForUpload({ uploaded }: Registration, signal: AbortSignal): Promise<void> {
  await Promise.race([uploaded, waitForAbort(signal)]);
  signal.throwIfAborted();
}
