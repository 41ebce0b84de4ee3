/** One of `GET /v1/keys`. */
export interface ApiKey {
  readonly id: string;
  readonly object: 'api_key';
  readonly name: string | null;
  /** How the key begins. */
  readonly hint: string;
  readonly role: 'admin' | 'member';
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds; null while it is good. */
  readonly revoked_at: number | null;
}

/** The answer of `POST /v1/keys`: the only time that the key itself is told. */
export interface MadeKey extends ApiKey {
  readonly key: string;
}
