import type { LimitedUser } from '../../contract/accounts/limits.ts';
import { ServiceError } from '../../contract/core/error.ts';

const RETRY_AFTER_S = 2;

export interface QuotaLimits {
  readonly perOrganization: number;
  /** How many of them one key may have, so that others of its organization find room; absent: all. */
  readonly perKey?: number;
}

/** Places of each organization for one kind of work, so that nobody shuts out the others. */
export class Quota {
  readonly #noun: string;
  readonly #limits: Required<QuotaLimits>;
  readonly #byOrganization = new Map<string, number>();
  readonly #byKey = new Map<string, number>();

  /** @param noun what a message calls them: "speech requests" in "3 speech requests open". */
  constructor(noun: string, { perOrganization, perKey = perOrganization }: QuotaLimits) {
    this.#noun = noun;
    this.#limits = { perOrganization, perKey };
  }

  /**
   * Takes a place; the result gives it back, once.
   * @throws ServiceError `rate_limited` when the organization has taken all of its own, or the key its part.
   */
  acquire({ organization, keyId }: LimitedUser): () => void {
    const { perOrganization, perKey } = this.#limits;
    this.#require('organization', this.#byOrganization.get(organization), perOrganization);
    this.#require('API key', this.#byKey.get(keyId), perKey);
    add(this.#byOrganization, organization, 1);
    add(this.#byKey, keyId, 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      add(this.#byOrganization, organization, -1);
      add(this.#byKey, keyId, -1);
    };
  }

  #require(whose: 'organization' | 'API key', taken = 0, limit: number): void {
    if (taken < limit) return;
    throw new ServiceError(
      'rate_limited',
      `Your ${whose} has ${taken} ${this.#noun} open, and may have ${limit} at once. Try again when one has ended.`,
      { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
    );
  }
}

function add(counts: Map<string, number>, name: string, change: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}
