import type { LimitedUser } from '../../contract/accounts/limits.ts';
import { ServiceError } from '../../contract/core/error.ts';

const RETRY_AFTER_S = 2;

export type LimitScope = 'organization' | 'API key';

export interface QuotaLimits {
  readonly perOrganization: number;
  /** Maximum number per API key, so that one key cannot use the whole quota; default: `perOrganization`. */
  readonly perKey?: number;
}

/** Limits the concurrent requests of one kind per organization and API key. */
export class Quota {
  readonly #noun: string;
  readonly #limits: Required<QuotaLimits>;
  readonly #byOrganization = new Map<string, number>();
  readonly #byKey = new Map<string, number>();

  /** @param noun plural noun for messages: "speech requests". */
  constructor(noun: string, { perOrganization, perKey = perOrganization }: QuotaLimits) {
    this.#noun = noun;
    this.#limits = { perOrganization, perKey };
  }

  /**
   * Acquires a slot.
   * @returns a function that releases the slot; idempotent.
   * @throws ServiceError `rate_limited` if the organization or the key has reached its limit.
   */
  acquire({ organization, keyId }: LimitedUser): () => void {
    const { perOrganization, perKey } = this.#limits;
    this.#require('organization', this.#byOrganization.get(organization), perOrganization);
    this.#require('API key', this.#byKey.get(keyId), perKey);
    add(this.#byOrganization, organization, 1);
    add(this.#byKey, keyId, 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      add(this.#byOrganization, organization, -1);
      add(this.#byKey, keyId, -1);
    };
  }

  #require(scope: LimitScope, open = 0, limit: number): void {
    if (open < limit) return;
    throw concurrencyLimitError(scope, open, limit, this.#noun);
  }
}

/** The error for a reached limit of concurrent requests. @param noun plural noun of the requests. */
export function concurrencyLimitError(
  scope: LimitScope,
  open: number,
  limit: number,
  noun: string,
): ServiceError {
  return new ServiceError(
    'rate_limited',
    `Concurrency limit per ${scope} reached: ${open} of ${limit} ${noun} in flight. Retry when one finishes.`,
    { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
  );
}

function add(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
