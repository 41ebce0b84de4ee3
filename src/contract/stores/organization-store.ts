/** Organizations. An organization is identified by its name and is created with its first key or grant. */

export interface OrganizationRecord {
  /** Name of the organization. */
  readonly id: string;
  /** Unix seconds of its first key or grant. */
  readonly createdAt: number;
  /** Number of active keys; keys of API_KEYS are not included. */
  readonly keys: number;
}

export interface OrganizationStore {
  /** Creates the organizations that do not exist. */
  ensure(ids: readonly string[]): Promise<void>;
  /** Lists all organizations, ordered by name. */
  list(): Promise<readonly OrganizationRecord[]>;
}
