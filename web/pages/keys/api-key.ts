/** An item of `GET /v1/keys`. */
export interface ApiKey {
  readonly id: string;
  readonly object: 'api_key';
  readonly name: string | null;
  /** The first characters of the key. */
  readonly hint: string;
  readonly role: 'admin' | 'member';
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds; null while the key is active. */
  readonly revoked_at: number | null;
}

/** Response of `POST /v1/keys`, the only one that contains the key itself. */
export interface CreatedKey extends ApiKey {
  readonly key: string;
}
