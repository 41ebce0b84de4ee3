/** Response of `GET /v1/organization`: the organization and permissions of the current key. */
export interface Organization {
  readonly object: 'organization';
  readonly id: string;
  readonly role: 'admin' | 'member';
  /** Whether the key may enable and disable plugins for the whole service. */
  readonly operator: boolean;
  /** Set for stored keys; absent for keys of API_KEYS. */
  readonly key_id?: string;
}
