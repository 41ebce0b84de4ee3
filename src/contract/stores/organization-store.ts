/** Those who have keys or credits. An organization is its name; the first key or grant makes it. */

export interface OrganizationRecord {
  /** Its name. */
  readonly id: string;
  /** Unix seconds: when it was first heard of. */
  readonly createdAt: number;
  /** Keys that were made for it and not revoked; fixed ones of API_KEYS are not among them. */
  readonly keys: number;
}

export interface OrganizationStore {
  /** Makes those that there are not. */
  ensure(ids: readonly string[]): Promise<void>;
  /** All, by name. */
  list(): Promise<readonly OrganizationRecord[]>;
}
