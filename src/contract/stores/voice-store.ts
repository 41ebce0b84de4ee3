/** Stored voices, per organization (spec 2.5, 4.4). Their clips lie in the {@link BlobStore}. */

import type { Id } from '../core/id.ts';

/** Spec 8. */
export const MIN_CLIP_S = 5;
export const MAX_CLIP_S = 15;

export interface VoiceRecord {
  readonly id: Id<'voice'>;
  readonly organization: string;
  /** Of the caller who made it. */
  readonly keyId: string;
  readonly name: string;
  /** The caller's acknowledgement, as it was sent. */
  readonly consent: string;
  readonly refText: string;
  readonly speakerDescription?: string | undefined;
  /** Of the clip as it was uploaded: `wav`, `mp3`, `mp4`, … */
  readonly format: string;
  readonly durationS: number;
  readonly sampleRateHz: number;
  readonly lengthBytes: number;
  /** Unix seconds. */
  readonly createdAt: number;
  /** What engines made of the clip (`VoiceFitter`); undefined when there is nothing yet. */
  readonly adaptation?: string | undefined;
  /** Whether it may still get better. */
  readonly isImproving: boolean;
}

/** The blob of a voice's clip: WAV, 16-bit mono, at the rate of the upload. */
export function clipBlob(id: Id<'voice'>): string {
  return `voices/${id}`;
}

export interface VoicePage {
  readonly voices: readonly VoiceRecord[];
  readonly hasMore: boolean;
}

/** What belongs to another organization is answered as if it did not exist. */
export interface VoiceStore {
  /**
   * Notes a voice whose clip is stored.
   * @param most voices that an organization may have.
   * @throws ServiceError `invalid_request` (code `voice_limit_exceeded`) when it has as many.
   */
  put(voice: VoiceRecord, most: number): Promise<void>;
  /** @throws ServiceError `invalid_request` (code `voice_limit_exceeded`) when `put` would refuse any voice. */
  requireCapacity(organization: string, most: number): Promise<void>;
  get(organization: string, id: string): Promise<VoiceRecord | undefined>;
  /**
   * @param query.after id of the last voice of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) when no such voice belongs to the organization.
   */
  list(query: {
    organization: string;
    limit: number;
    order: 'asc' | 'desc';
    after?: string | undefined;
  }): Promise<VoicePage>;
  /** Forgets a voice with all that was made of it, not its clip. False when there is none. */
  delete(organization: string, id: string): Promise<boolean>;
  /** Whoever fits it asks for a voice without knowing whose it is. */
  find(id: Id<'voice'>): Promise<VoiceRecord | undefined>;
  /**
   * Notes what engines made of the clip by now, undefined for nothing that can be used. False when the voice was
   * deleted meanwhile.
   */
  setAdaptation(id: Id<'voice'>, adaptation: string | undefined, isImproving: boolean): Promise<boolean>;
  /**
   * Forgets an adaptation that cannot be used, and has the voice get better anew, unless another has replaced it
   * meanwhile.
   * @param adaptation as it was read; undefined for none.
   */
  invalidateAdaptation(id: Id<'voice'>, adaptation: string | undefined): Promise<void>;
  /** What was made of the clips of every organization, in the order of ids, to see what can still be used. */
  listAdaptations(
    limit: number,
    after?: Id<'voice'>,
  ): Promise<readonly Pick<VoiceRecord, 'id' | 'adaptation' | 'isImproving'>[]>;
  /** Voices of every organization that may still get better, in the order of ids, for queues that have lost them. */
  listImproving(limit: number, after?: Id<'voice'>): Promise<readonly Id<'voice'>[]>;
  /** Which of these ids are voices. */
  filterExisting(ids: readonly Id<'voice'>[]): Promise<ReadonlySet<Id<'voice'>>>;
}
