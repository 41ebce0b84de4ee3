/** Stored voices of organizations. The records are stored in SQL, the clips as blobs. */

import type { Caller } from '../../src/contract/accounts/caller.ts';
import { ServiceError } from '../../src/contract/core/error.ts';
import type { Id } from '../../src/contract/core/id.ts';
import type { Logger } from '../../src/contract/core/logger.ts';
import type { NamedVoice } from '../../src/contract/engines/named-voice.ts';
import { requireModel } from '../../src/contract/model-table.ts';
import type { Slots } from '../../src/contract/plugin.ts';
import type { BlobStore } from '../../src/contract/stores/blob-store.ts';
import {
  clipBlob,
  type VoicePage,
  type VoiceRecord,
  type VoiceStore,
} from '../../src/contract/stores/voice-store.ts';
import { StoredVoices } from '../../src/speak/stored-voices.ts';

export interface VoiceServiceDeps extends Pick<Slots, 'tts'> {
  readonly voices: VoiceStore;
  readonly blobs: BlobStore;
  readonly log: Logger;
}

export class VoiceService {
  readonly #deps: VoiceServiceDeps;
  readonly #stored: StoredVoices;

  constructor(deps: VoiceServiceDeps) {
    this.#deps = deps;
    this.#stored = new StoredVoices(deps);
  }

  /** @throws ServiceError `not_found`. */
  async get({ organization }: Caller, id: string): Promise<VoiceRecord> {
    const voice = await this.#deps.voices.get(organization, id);
    if (voice === undefined) throw unknownVoice(id);
    return voice;
  }

  list(
    { organization }: Caller,
    query: Omit<Parameters<VoiceStore['list']>[0], 'organization'>,
  ): Promise<VoicePage> {
    return this.#deps.voices.list({ organization, ...query });
  }

  /**
   * The voices of a model that requests can name; none if only an upstream server knows them.
   * @throws ServiceError `invalid_request` (`model_not_found`) if CONFIG does not define the model.
   */
  namedVoicesOf(model: string): readonly NamedVoice[] {
    return requireModel(this.#deps.tts, model).voices ?? [];
  }

  /** The voices that requests to any model can name, each once. */
  namedVoices(): readonly NamedVoice[] {
    const { tts } = this.#deps;
    const byId = new Map<string, NamedVoice>();
    for (const voice of tts.ids.flatMap((model) => tts.get(model)?.voices ?? [])) {
      if (!byId.has(voice.id)) byId.set(voice.id, voice);
    }
    return [...byId.values()];
  }

  /** The clip as WAV. @throws ServiceError `not_found`; `overloaded` if the blob store is unavailable. */
  async clip({ organization }: Caller, id: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const voice = await this.#stored.find(id, organization);
    if (voice === undefined) throw unknownVoice(id);
    return voice.clip(signal);
  }

  /** @throws ServiceError `not_found`. */
  async delete({ organization }: Caller, id: string): Promise<void> {
    const { voices, blobs, log } = this.#deps;
    if (!(await voices.delete(organization, id))) throw unknownVoice(id);
    const voice = id as Id<'tts-vc-voice_'>;
    // The clip is deleted first, so that it cannot be sent to an upstream server again.
    await deleteClip(blobs, voice, log);
    await this.#deleteRemoteVoices(voice);
  }

  /** Deletes the voice on upstream servers that received the clip, if they are available. */
  async #deleteRemoteVoices(voice: Id<'tts-vc-voice_'>): Promise<void> {
    const { tts, log } = this.#deps;
    const deletions = tts.ids.map(async (model) => {
      try {
        await tts.get(model)?.deleteVoice?.(voice);
      } catch (error) {
        log.error('failed to delete a voice on an upstream server', error, { voice, model });
      }
    });
    await Promise.all(deletions);
  }
}

/** Deletes the clip of a deleted voice. On failure, the cleanup deletes it later. */
export async function deleteClip(blobs: BlobStore, id: Id<'tts-vc-voice_'>, log: Logger): Promise<void> {
  try {
    await blobs.delete(clipBlob(id));
  } catch (error) {
    log.error('failed to delete the clip of a deleted voice; the cleanup will retry', error, { voice: id });
  }
}

function unknownVoice(id: string): ServiceError {
  return new ServiceError(
    'not_found',
    `No stored voice with id '${id.slice(0, 100)}'. GET /v1/audio/voices lists your voices.`,
    {
      param: 'voice_id',
      code: 'voice_not_found',
    },
  );
}
