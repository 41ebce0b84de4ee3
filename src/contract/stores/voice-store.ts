/** Stored voices per organization (spec 2.5, 4.4). Their clips are stored in the {@link BlobStore}. */

import type { Id } from '../core/id.ts';

/** Spec 8. */
export const MIN_CLIP_S = 5;
export const MAX_CLIP_S = 15;

export interface VoiceRecord {
  readonly id: Id<'tts-vc-voice_'>;
  readonly organization: string;
  /** API key that created the voice. */
  readonly keyId: string;
  readonly name: string;
  /** Consent statement as sent by the caller. */
  readonly consent: string;
  readonly refText: string;
  readonly speakerDescription?: string | undefined;
  /** Format of the uploaded clip: `wav`, `mp3`, `mp4`, … */
  readonly format: string;
  readonly durationS: number;
  readonly sampleRateHz: number;
  readonly lengthBytes: number;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Adaptation created by a `VoiceFitter`; undefined if there is none yet. */
  readonly adaptation?: string | undefined;
}

/** Returns the blob name of the clip: WAV, 16-bit mono, at the sample rate of the upload. */
export function clipBlob(id: Id<'tts-vc-voice_'>): string {
  return `voices/${id}`;
}

export interface VoicePage {
  readonly voices: readonly VoiceRecord[];
  readonly hasMore: boolean;
}

/** Resources of other organizations are treated as missing. */
export interface VoiceStore {
  /**
   * Stores a voice whose clip is stored.
   * @param maxVoices maximum number of voices of an organization.
   * @throws ServiceError `invalid_request` (code `voice_limit_exceeded`) if the organization has that many
   *   voices.
   */
  put(voice: VoiceRecord, maxVoices: number): Promise<void>;
  /**
   * Checks the quota.
   * @throws ServiceError `invalid_request` (code `voice_limit_exceeded`) if `put` would reject a voice.
   */
  requireCapacity(organization: string, maxVoices: number): Promise<void>;
  get(organization: string, id: string): Promise<VoiceRecord | undefined>;
  /**
   * Lists voices.
   * @param query.after id of the last voice of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) if the organization has no such voice.
   */
  list(query: {
    organization: string;
    limit: number;
    order: 'asc' | 'desc';
    after?: string | undefined;
  }): Promise<VoicePage>;
  /**
   * Deletes a voice and its adaptation, but not its clip.
   * @returns false if it does not exist.
   */
  delete(organization: string, id: string): Promise<boolean>;
  /** Returns a voice of any organization, to create its adaptation again. */
  find(id: Id<'tts-vc-voice_'>): Promise<VoiceRecord | undefined>;
  /**
   * Replaces the adaptation; undefined removes it.
   * @returns false if the voice was deleted in the meantime.
   */
  setAdaptation(id: Id<'tts-vc-voice_'>, adaptation: string | undefined): Promise<boolean>;
  /** Lists the adaptations of all organizations, ordered by id, to check whether they can still be used. */
  listAdaptations(
    limit: number,
    after?: Id<'tts-vc-voice_'>,
  ): Promise<readonly Pick<VoiceRecord, 'id' | 'adaptation'>[]>;
  /** Returns the ids that are stored voices. */
  filterExisting(ids: readonly Id<'tts-vc-voice_'>[]): Promise<ReadonlySet<Id<'tts-vc-voice_'>>>;
}
