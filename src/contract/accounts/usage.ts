/** What a request consumed: one row per API call (spec 1.8, contract `GET /v1/usage`). */

import type { Id } from '../core/id.ts';

/** Labels exactly as the spec prints them (spec 1, 4.3, 4.7); those that it does not print are method and path. */
export const ENDPOINT_LABELS = [
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  'POST /v1/voices/partner',
  'POST /v1/transcribers/partner',
  'POST /v1/chat/completions',
  'POST /v1/embeddings',
  'POST /v1/responses',
  'POST /v1/audio/voices',
  'POST /v1/videos/extensions',
] as const;
export type EndpointLabel = (typeof ENDPOINT_LABELS)[number];

export type UsageStatus = 'completed' | 'cancelled' | 'failed';

export interface UsageEntry {
  readonly endpoint: EndpointLabel;
  readonly organization: string;
  readonly requestId: Id<'request'>;
  readonly model: string;
  readonly status: UsageStatus;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Unicode code points that were accepted for synthesis. */
  readonly characters?: number;
  /** Bytes of audio that were really made. */
  readonly audioBytes?: number;
  readonly audioSeconds?: number;
  /** What was heard, for endpoints that transcribe. */
  readonly transcript?: string;
}

export interface UsageRecord extends UsageEntry {
  readonly id: Id<'usage'>;
  /** Unix seconds. */
  readonly createdAt: number;
}

export interface UsagePage {
  readonly records: readonly UsageRecord[];
  readonly hasMore: boolean;
}

/** What one endpoint did with one model on one day, in UTC. */
export interface UsageDay {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly endpoint: EndpointLabel;
  readonly model: string;
  readonly requests: number;
  /** Of the requests. */
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly characters: number;
  readonly audioSeconds: number;
  /** Integer millionths of a credit. */
  readonly charged: number;
}

export interface UsageReader {
  /**
   * Sums of one organization, by day, endpoint and model; days without a request are left out.
   * @param query.from the first day, since 1970-01-01.
   * @param query.to the last one.
   */
  days(query: {
    readonly organization: string;
    readonly from: number;
    readonly to: number;
  }): Promise<readonly UsageDay[]>;
  /**
   * Rows of one organization, newest first.
   * @param after id of the last row of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) when no such row belongs to the organization.
   */
  list(query: {
    organization: string;
    limit: number;
    after?: string | undefined;
    endpoint?: string | undefined;
  }): Promise<UsagePage>;
}
