/** Usage records: one row per API call (spec 1.8, contract `GET /v1/usage`). */

import type { Id } from '../core/id.ts';

/**
 * Label of an endpoint in usage rows and prices: as in the specification (1, 4.3, 4.7), otherwise method and path. The plugin
 * that bills the endpoint declares it.
 */
export type EndpointLabel = `/v1/${string}` | `${'GET' | 'POST'} /v1/${string}`;

export type UsageStatus = 'completed' | 'cancelled' | 'failed';

export interface UsageEntry {
  readonly endpoint: EndpointLabel;
  readonly organization: string;
  readonly requestId: Id<'req_'>;
  readonly model: string;
  readonly status: UsageStatus;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Unicode code points accepted for synthesis. */
  readonly characters?: number;
  /** Bytes of audio generated. */
  readonly audioBytes?: number;
  readonly audioSeconds?: number;
  /** Transcript, for transcription endpoints. */
  readonly transcript?: string;
}

export interface UsageRecord extends UsageEntry {
  readonly id: Id<'usage_'>;
  /** Unix seconds. */
  readonly createdAt: number;
}

export interface UsagePage {
  readonly records: readonly UsageRecord[];
  readonly hasMore: boolean;
}

/** Usage of one endpoint and model on one UTC day. */
export interface UsageDay {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly endpoint: EndpointLabel;
  readonly model: string;
  readonly requests: number;
  /** Failed requests; included in `requests`. */
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
   * Returns the daily totals of an organization, by endpoint and model. Days without requests are omitted.
   * @param query.from first day, in days since 1970-01-01.
   * @param query.to last day, inclusive.
   */
  days(query: {
    readonly organization: string;
    readonly from: number;
    readonly to: number;
  }): Promise<readonly UsageDay[]>;
  /**
   * Lists rows of an organization, newest first.
   * @param query.after id of the last row of the previous page.
   * @throws ServiceError `invalid_request` (param `after`) if the organization has no such row.
   */
  list(query: {
    organization: string;
    limit: number;
    after?: string | undefined;
    endpoint?: string | undefined;
  }): Promise<UsagePage>;
}
