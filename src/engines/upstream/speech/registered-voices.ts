/** Tracks the stored voices that this process has uploaded to a server (partner-and-upstreams B.1). */

import type { Id } from '../../../contract/core/id.ts';
import { type SpokenVoice, voiceDeleted } from '../../../contract/engines/spoken-voice.ts';
import { waitForAbort } from '../../../kit/async/wait-for-abort.ts';

/** The default limit of vLLM-Omni. A voice beyond it is uploaded again when it is needed. */
const MAX_REGISTRATIONS = 1000;

/** The upload of a voice, shared by all requests for it. */
export interface Registration {
  readonly uploaded: Promise<void>;
  /** Whether the upload has succeeded before. The server may have lost the voice since then. */
  readonly isCompleted: boolean;
}

interface AbortableRegistration extends Registration {
  readonly stop: AbortController;
}

export class RegisteredVoices {
  readonly #upload: (voice: SpokenVoice, signal: AbortSignal) => Promise<void>;
  readonly #maxRegistrations: number;
  /** In the order of last use. */
  readonly #registrations = new Map<Id<'tts-vc-voice_'>, AbortableRegistration>();

  /**
   * @param upload uploads a voice. It is not cancelled with a request, because other requests may need the upload. Its
   *   signal is aborted when the voice is deleted.
   */
  constructor(
    upload: (voice: SpokenVoice, signal: AbortSignal) => Promise<void>,
    maxRegistrations = MAX_REGISTRATIONS,
  ) {
    this.#upload = upload;
    this.#maxRegistrations = maxRegistrations;
  }

  /** Returns the registration of a voice and starts the upload if there is none. A failed registration is discarded. */
  ensure(voice: SpokenVoice): Registration {
    const registration = this.#registrations.get(voice.id) ?? this.#startUpload(voice);
    this.#registrations.delete(voice.id);
    this.#registrations.set(voice.id, registration);
    const [oldest] = this.#registrations.keys();
    if (this.#registrations.size > this.#maxRegistrations && oldest !== undefined)
      this.#registrations.delete(oldest);
    return registration;
  }

  /** Discards a registration after the server has lost the voice, unless a newer one replaced it. */
  invalidate(voice: SpokenVoice, registration: Registration): void {
    if (this.#registrations.get(voice.id) === registration) this.#registrations.delete(voice.id);
  }

  /**
   * Removes a deleted voice. Resolves when no upload of it is in progress.
   * @param timeout aborts a running upload. An upload that completes can be deleted reliably, whereas a server may store
   *   part of an aborted one.
   */
  async remove(id: Id<'tts-vc-voice_'>, timeout: AbortSignal): Promise<void> {
    const registration = this.#registrations.get(id);
    if (registration === undefined) return;
    const finished = registration.uploaded.catch(() => undefined);
    await Promise.race([finished, waitForAbort(timeout)]);
    registration.stop.abort(voiceDeleted());
    await finished;
    this.#registrations.delete(id);
  }

  #startUpload(voice: SpokenVoice): AbortableRegistration {
    const stop = new AbortController();
    const uploaded = this.#upload(voice, stop.signal);
    const registration = { uploaded, stop, isCompleted: false };
    uploaded.then(
      () => {
        registration.isCompleted = true;
      },
      () => this.invalidate(voice, registration),
    );
    return registration;
  }
}

/** Waits for an upload. @throws the error of the upload, or the reason of the signal after an abort. */
export async function waitForUpload({ uploaded }: Registration, signal: AbortSignal): Promise<void> {
  await Promise.race([uploaded, waitForAbort(signal)]);
  signal.throwIfAborted();
}
