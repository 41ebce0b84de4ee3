/** Stored voices of organizations: their records are in SQL, their clips are blobs. */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import { ServiceError } from '../../src/contract/core/error.ts';
import type { Id } from '../../src/contract/core/id.ts';
import type { Logger } from '../../src/contract/core/logger.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import type { BlobStore } from '../../src/contract/stores/blob-store.ts';
import {
  clipBlob,
  type VoicePage,
  type VoiceRecord,
  type VoiceStore,
} from '../../src/contract/stores/voice-store.ts';
import { StoredVoices } from '../../src/speak/stored-voices.ts';

export interface VoicesParts extends Pick<Slots, 'tts'> {
  readonly voices: VoiceStore;
  readonly blobs: BlobStore;
  readonly log: Logger;
}

export class Voices {
  readonly #parts: VoicesParts;
  readonly #stored: StoredVoices;

  constructor(parts: VoicesParts) {
    this.#parts = parts;
    this.#stored = new StoredVoices(parts);
  }

  /** @throws ServiceError `not_found`. */
  async get({ organization }: Caller, id: string): Promise<VoiceRecord> {
    const voice = await this.#parts.voices.get(organization, id);
    if (voice === undefined) throw unknownVoice(id);
    return voice;
  }

  list(
    { organization }: Caller,
    query: Omit<Parameters<VoiceStore['list']>[0], 'organization'>,
  ): Promise<VoicePage> {
    return this.#parts.voices.list({ organization, ...query });
  }

  /** The clip as WAV. @throws ServiceError `not_found`, `overloaded` when it cannot be had now. */
  async clip({ organization }: Caller, id: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const voice = await this.#stored.find(id, organization);
    if (voice === undefined) throw unknownVoice(id);
    return voice.clip(signal);
  }

  /** Whoever makes the voice better notices at the next step. @throws ServiceError `not_found`. */
  async delete({ organization }: Caller, id: string): Promise<void> {
    const { voices, blobs, log } = this.#parts;
    if (!(await voices.delete(organization, id))) throw unknownVoice(id);
    const voice = id as Id<'voice'>;
    // First the clip: so no server is given it again.
    await deleteClip(blobs, voice, log);
    await this.#forget(voice);
  }

  /** Servers that were given the clip delete it, as far as they can be reached. */
  async #forget(voice: Id<'voice'>): Promise<void> {
    const { tts, log } = this.#parts;
    const forgetting = tts.ids.map(async (model) => {
      try {
        await tts.get(model)?.deleteVoice?.(voice);
      } catch (error) {
        log.error('a deleted voice is left at the server of a model', error, { voice, model });
      }
    });
    await Promise.all(forgetting);
  }
}

/** Deletes the clip of a voice that is not there, now or by the sweep. */
export async function deleteClip(blobs: BlobStore, id: Id<'voice'>, log: Logger): Promise<void> {
  try {
    await blobs.delete(clipBlob(id));
  } catch (error) {
    log.error('the clip of a deleted voice is left to the sweep', error, { voice: id });
  }
}

function unknownVoice(id: string): ServiceError {
  return new ServiceError('not_found', `There is no stored voice '${id.slice(0, 100)}'.`, {
    param: 'voice_id',
    code: 'voice_not_found',
  });
}
