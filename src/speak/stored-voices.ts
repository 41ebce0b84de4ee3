import { ServiceError } from '../contract/core/error.ts';
import { type SpokenVoice, voiceDeleted } from '../contract/engines/spoken-voice.ts';
import type { BlobStore } from '../contract/stores/blob-store.ts';
import { clipBlob, type VoiceRecord, type VoiceStore } from '../contract/stores/voice-store.ts';

export interface StoredVoicesDeps {
  readonly voices: Pick<VoiceStore, 'get'>;
  readonly blobs: Pick<BlobStore, 'read'>;
}

/** Voices that organizations stored, for every feature that speaks with them. */
export class StoredVoices {
  readonly #parts: StoredVoicesDeps;

  constructor(parts: StoredVoicesDeps) {
    this.#parts = parts;
  }

  /**
   * Looks a voice up as it is now: what was made of its clip gets better for a while after it was stored.
   * @param id as a client sent it.
   * @returns undefined when the organization has no such voice.
   * @throws what the store throws.
   */
  async find(id: string, organization: string): Promise<SpokenVoice | undefined> {
    const record = await this.#parts.voices.get(organization, id);
    return record && this.#spoken(record);
  }

  #spoken({ id, organization, adaptation, refText }: VoiceRecord): SpokenVoice {
    const { voices, blobs } = this.#parts;
    return {
      ...{ id, adaptation, refText },
      async clip(signal) {
        const bytes = await blobs.read(clipBlob(id), signal);
        // A few seconds of speech (MAX_CLIP_S): small enough to be held.
        if (bytes !== undefined) return Buffer.concat(await Array.fromAsync(bytes));
        if ((await voices.get(organization, id)) === undefined) throw voiceDeleted();
        throw new ServiceError('internal', 'The clip of this voice is lost.', { code: 'server_error' });
      },
    };
  }
}
