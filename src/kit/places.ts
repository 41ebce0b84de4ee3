import { ServiceError } from '../contract/error.ts';

const RETRY_AFTER_S = 2;

/** Places of each organization for one kind of work, so that no key shuts out the others. */
export class Places {
  readonly #noun: string;
  readonly #perOrganization: number;
  readonly #taken = new Map<string, number>();

  /** @param noun what a message calls them: "speech requests" in "3 speech requests open". */
  constructor(noun: string, perOrganization: number) {
    this.#noun = noun;
    this.#perOrganization = perOrganization;
  }

  /**
   * Takes a place; the result gives it back, once.
   * @throws ServiceError `rate_limited` when the organization has taken all of its own.
   */
  take(organization: string): () => void {
    const taken = this.#taken.get(organization) ?? 0;
    const limit = this.#perOrganization;
    if (taken >= limit) {
      throw new ServiceError(
        'rate_limited',
        `Your organization has ${taken} ${this.#noun} open, and may have ${limit} at once. Try again when one has ended.`,
        { code: 'rate_limit_exceeded', retryAfterS: RETRY_AFTER_S },
      );
    }
    this.#taken.set(organization, taken + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#giveBack(organization);
    };
  }

  #giveBack(organization: string): void {
    const left = (this.#taken.get(organization) ?? 1) - 1;
    if (left === 0) this.#taken.delete(organization);
    else this.#taken.set(organization, left);
  }
}
