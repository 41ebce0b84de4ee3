/** `GET /v1/organization`: whose key this is, and what it may do. */
export interface Organization {
  readonly object: 'organization';
  readonly id: string;
  readonly role: 'admin' | 'member';
  /** Whether it may switch plugins of the whole service. */
  readonly operator: boolean;
  /** Of a stored key; absent of one of API_KEYS. */
  readonly key_id?: string;
}
