import { timingSafeEqual } from 'node:crypto';
import type { ApiKeyStore } from '../../contract/accounts/api-key.ts';
import type { KeyHolder } from '../../contract/accounts/caller.ts';
import { ServiceError } from '../../contract/core/error.ts';
import { hashApiKey, MAX_KEY_CHARACTERS } from '../../kit/keys/api-key.ts';
import { senderOf } from '../../kit/validation/network-address.ts';
import { SWAGGER_FILES } from '../openapi/openapi.ts';
import { CONSOLE_PREFIX } from '../routes/console.ts';
import { DOCS_PATHS } from '../routes/docs.ts';
import { SECURITY_TXT_PATH } from '../routes/security-txt.ts';
import type { InvalidKeyThrottle } from '../security/invalid-key-throttle.ts';
import type { ClientAddress } from '../transport/client-address.ts';
import { asksForSocket, offeredProtocols } from '../transport/socket.ts';

const PUBLIC_PATHS: ReadonlySet<string> = new Set([
  '/',
  '/healthz',
  '/readyz',
  '/metrics',
  '/swagger',
  '/swagger/json',
  SECURITY_TXT_PATH,
  ...SWAGGER_FILES,
  ...DOCS_PATHS,
]);

/** Whether a path answers without a key (contract); everything else needs one. */
export function isPublic(path: string): boolean {
  return PUBLIC_PATHS.has(path) || path.startsWith(CONSOLE_PREFIX);
}

/** Headers that carry a key, interchangeable on every endpoint (spec 5, rule 3). */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-partner-secret'] as const;

/**
 * Beginnings of subprotocols that carry a key, since a browser cannot set headers on a WebSocket (spec 5,
 * rule 5; the first is what OpenAI's clients send).
 */
const KEY_PROTOCOLS = ['openai-insecure-api-key.', 'ext-insecure-api-key.', 'bearer.'] as const;

const HOW =
  "Send it as 'Authorization: Bearer <API_KEY>', 'x-api-key: <API_KEY>' or 'x-partner-secret: <API_KEY>'; a browser that opens a WebSocket offers the subprotocols 'realtime' and 'ext-insecure-api-key.<API_KEY>'.";

/**
 * The key that a request carries, in a header or, to open a WebSocket, in a subprotocol. Several may carry
 * it, as long as they agree: a request with two different keys is refused, because either choice could bill
 * the wrong organization.
 * @throws ServiceError 401 `missing_api_key` when there is none, `invalid_api_key` when the headers
 *   or subprotocols disagree or `Authorization` is not a bearer token.
 */
export function keyFrom(headers: Headers): string {
  const keys = new Set<string>();
  for (const header of KEY_HEADERS) {
    const value = headers.get(header)?.trim();
    if (value) keys.add(header === 'authorization' ? bearerToken(value) : value);
  }
  for (const key of protocolKeys(headers)) keys.add(key);
  keys.delete('');
  const [key, ...others] = keys;
  if (key === undefined) {
    throw new ServiceError('unauthenticated', `An API key is needed. ${HOW}`, { code: 'missing_api_key' });
  }
  if (others.length > 0) {
    throw invalidKey(`The request carries different API keys. ${HOW}`);
  }
  if (key.length > MAX_KEY_CHARACTERS) throw invalidKey(`This API key is not valid. ${HOW}`);
  return key;
}

function protocolKeys(headers: Headers): readonly string[] {
  if (!asksForSocket(headers)) return [];
  return offeredProtocols(headers).flatMap((offered) => {
    const prefix = KEY_PROTOCOLS.find((each) => offered.startsWith(each));
    return prefix === undefined ? [] : offered.slice(prefix.length);
  });
}

function bearerToken(value: string): string {
  const match = /^bearer(?:\s+(.*))?$/is.exec(value);
  if (match === null) throw invalidKey(`The Authorization header must be a bearer token. ${HOW}`);
  return match[1]?.trim() ?? '';
}

function invalidKey(message: string): ServiceError {
  return new ServiceError('unauthenticated', message, { code: 'invalid_api_key' });
}

/** Finds out whose key a request carries. */
export type Authenticator = (request: Request) => Promise<KeyHolder>;

export interface AuthenticatorParts {
  readonly fixedKeys: readonly { readonly keyHash: string; readonly organization: string }[];
  readonly store: Pick<ApiKeyStore, 'findByHash'>;
  /** Organizations whose admins run the service. */
  readonly operators: readonly string[];
  readonly invalidKeys: InvalidKeyThrottle;
  readonly addressOf: ClientAddress;
}

/** Characters of a key's hash that name it: enough to tell keys apart, and nothing of the key. */
const KEY_ID_CHARACTERS = 16;

/**
 * Checks keys against the fixed ones of `API_KEYS` and the stored ones. Keys are compared by their SHA-256: fixed ones in
 * constant time, stored ones by an index. A caller cannot choose a prefix of the hash, so the time of the lookup reveals
 * nothing about a key. Every key is looked up; only invalid ones are throttled. Fixed keys are admin keys.
 */
export function authenticator(parts: AuthenticatorParts): Authenticator {
  const { fixedKeys, store, invalidKeys, addressOf } = parts;
  const operators = new Set(parts.operators);
  const fixed = fixedKeys.map(({ keyHash, organization }) => ({
    hash: Buffer.from(keyHash, 'hex'),
    organization,
  }));
  return async (request) => {
    const keyHash = hashApiKey(keyFrom(request.headers));
    const hash = Buffer.from(keyHash, 'hex');
    let organization: string | undefined;
    for (const candidate of fixed) {
      // No early exit: the time must not reveal which key matched.
      if (timingSafeEqual(candidate.hash, hash)) organization = candidate.organization;
    }
    const stored = organization === undefined ? await store.findByHash(keyHash) : undefined;
    organization ??= stored?.organization;
    if (organization === undefined) {
      invalidKeys.count(senderOf(addressOf(request) ?? ''));
      throw invalidKey(`This API key is not valid. ${HOW}`);
    }
    const role = stored?.role ?? 'admin';
    return {
      organization,
      keyId: keyHash.slice(0, KEY_ID_CHARACTERS),
      role,
      operator: role === 'admin' && operators.has(organization),
      ...(stored && { storedKey: stored.id }),
    };
  };
}
