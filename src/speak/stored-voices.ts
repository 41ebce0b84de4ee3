import { invalidRequest, ServiceError } from '../contract/core/error.ts';
import { mayBeId } from '../contract/core/id.ts';
import { quotedName, similarName } from '../contract/core/nearest-name.ts';
import type { SynthesisRequest, TtsEngine } from '../contract/engines/engine.ts';
import { type SpokenVoice, voiceDeleted } from '../contract/engines/spoken-voice.ts';
import type { BlobStore } from '../contract/stores/blob-store.ts';
import { clipBlob, type VoiceRecord, type VoiceStore } from '../contract/stores/voice-store.ts';

export interface StoredVoicesDeps {
  readonly voices: Pick<VoiceStore, 'get' | 'list'>;
  readonly blobs: Pick<BlobStore, 'read'>;
}

/** Number of newest voices of an organization that are compared with an unknown one. */
const COMPARED_VOICES = 100;

export type VoiceLookup = Pick<StoredVoices, 'find' | 'findSimilar'>;

/** Looks up the stored voices of organizations. */
export class StoredVoices {
  readonly #deps: StoredVoicesDeps;

  constructor(deps: StoredVoicesDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the current state of a voice. Its adaptation improves for some time after the voice was stored.
   * @param id voice id as sent by the client.
   * @returns undefined if the organization has no such voice.
   * @throws the errors of the store.
   */
  async find(id: string, organization: string): Promise<SpokenVoice | undefined> {
    const record = await this.#deps.voices.get(organization, id);
    return record && this.#spoken(record);
  }

  /**
   * Returns the id of the voice that an unknown id or name was probably meant to be.
   * @throws the errors of the store.
   */
  async findSimilar(written: string, organization: string): Promise<string | undefined> {
    const { voices } = await this.#deps.voices.list({ organization, limit: COMPARED_VOICES, order: 'desc' });
    const idsByName = new Map(voices.flatMap(({ id, name }) => [[id, id] as const, [name, id] as const]));
    return idsByName.get(similarName(written, [...idsByName.keys()]) ?? '');
  }

  #spoken({ id, organization, adaptation, refText }: VoiceRecord): SpokenVoice {
    const { voices, blobs } = this.#deps;
    return {
      ...{ id, adaptation, refText },
      async clip(signal) {
        const bytes = await blobs.read(clipBlob(id), signal);
        // A clip has a few seconds (MAX_CLIP_S), so it fits in memory.
        if (bytes !== undefined) return Buffer.concat(await Array.fromAsync(bytes));
        if ((await voices.get(organization, id)) === undefined) throw voiceDeleted();
        throw new ServiceError('internal', 'The clip of this voice is lost.', { code: 'server_error' });
      },
    };
  }
}

/** The voice of a synthesis: a stored voice, a voice of the engine, or neither for its default voice. */
export type SelectedVoice = Pick<SynthesisRequest, 'voice' | 'voiceName'>;

/** A voice that a request names. */
export interface RequestedVoice {
  /** Id of a stored voice or name of a voice of the model, as sent by the client; undefined selects the default voice. */
  readonly id: string | undefined;
  /** Name of the request field with the voice, for error messages. */
  readonly param: string;
  readonly organization: string;
}

/**
 * Selects the voice that a request names, in its current state.
 * @throws ServiceError `invalid_request` (`voice_not_found`) if neither the organization nor the engine has it; the errors of
 *   the store.
 */
export async function selectVoice(
  voices: VoiceLookup,
  engine: Pick<TtsEngine, 'hasVoice'>,
  { id, param, organization }: RequestedVoice,
): Promise<SelectedVoice> {
  if (id !== undefined && !mayBeId('voice', id) && engine.hasVoice?.(id)) return { voiceName: id };
  return { voice: await requireVoice(voices, id, param, organization) };
}

/**
 * Returns the current state of the voice that a request names, or undefined without one.
 * @param id voice id as sent by the client.
 * @param param name of the request field with the id, for error messages.
 * @throws ServiceError `invalid_request` (`voice_not_found`) if the organization has no such voice; the errors
 *   of the store.
 */
async function requireVoice(
  voices: VoiceLookup,
  id: string | undefined,
  param: string,
  organization: string,
): Promise<SpokenVoice | undefined> {
  if (id === undefined) return undefined;
  const voice = mayBeId('voice', id) ? await voices.find(id, organization) : undefined;
  if (voice !== undefined) return voice;
  const similar = await voices.findSimilar(id, organization);
  const hint = similar === undefined ? '' : ` Did you mean '${similar}'?`;
  const rule = `'${param}' must be the id of a stored voice of your organization, or unset for the default voice`;
  const message = `Unknown voice${quotedName(id)}.${hint} ${rule}; GET /v1/audio/voices lists your voices.`;
  throw invalidRequest(message, param, 'voice_not_found');
}
