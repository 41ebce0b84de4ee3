import { timingSafeEqual } from 'node:crypto';
import type { ApiKeyStore } from '../../contract/accounts/api-key.ts';
import type { Principal } from '../../contract/accounts/caller.ts';
import { ServiceError } from '../../contract/core/error.ts';
import { hashApiKey, MAX_KEY_CHARACTERS } from '../../kit/keys/api-key.ts';
import { clientNetwork } from '../../kit/validation/network-address.ts';
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

/** Whether a path is served without an API key (contract). All other paths need one. */
export function isPublic(path: string): boolean {
  return PUBLIC_PATHS.has(path) || path.startsWith(CONSOLE_PREFIX);
}

/** Headers that can carry an API key; every endpoint accepts all of them (spec 5, rule 3). */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-partner-secret'] as const;

/**
 * Prefixes of WebSocket subprotocols that carry an API key, because browsers cannot set headers on a WebSocket (spec 5,
 * rule 5). OpenAI's clients use the first one.
 */
const KEY_PROTOCOLS = ['openai-insecure-api-key.', 'ext-insecure-api-key.', 'bearer.'] as const;

const AUTH_HINT =
  "Pass it as 'Authorization: Bearer <API_KEY>', 'x-api-key: <API_KEY>' or 'x-partner-secret: <API_KEY>'. WebSockets in browsers: offer the subprotocols 'realtime' and 'ext-insecure-api-key.<API_KEY>'.";

/**
 * Reads the API key of a request from its headers or, for a WebSocket, from its subprotocols. The key may be present in
 * several places. Different keys are rejected, because either choice could bill the wrong organization.
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
    throw new ServiceError('unauthenticated', `Missing API key. ${AUTH_HINT}`, { code: 'missing_api_key' });
  }
  if (others.length > 0) {
    throw invalidKey(`The request contains different API keys. ${AUTH_HINT}`);
  }
  if (key.length > MAX_KEY_CHARACTERS) throw invalidKey(`Invalid API key. ${AUTH_HINT}`);
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
  if (match === null)
    throw invalidKey(`The 'Authorization' header must contain a bearer token. ${AUTH_HINT}`);
  return match[1]?.trim() ?? '';
}

function invalidKey(message: string): ServiceError {
  return new ServiceError('unauthenticated', message, { code: 'invalid_api_key' });
}

/** Resolves the principal of a request's API key. */
export type Authenticator = (request: Request) => Promise<Principal>;

export interface AuthenticatorDeps {
  readonly fixedKeys: readonly { readonly keyHash: string; readonly organization: string }[];
  readonly store: Pick<ApiKeyStore, 'findByHash'>;
  /** Organizations whose admin keys are operator keys. */
  readonly operators: readonly string[];
  readonly invalidKeys: InvalidKeyThrottle;
  readonly addressOf: ClientAddress;
}

/** Length of a key id: enough hash characters to be unique, and no information about the key. */
const KEY_ID_CHARACTERS = 16;

/**
 * Checks keys against the fixed ones of `API_KEYS` and the stored ones. Keys are compared by their SHA-256: fixed ones in
 * constant time, stored ones by an index. A caller cannot choose a prefix of the hash, so the time of the lookup reveals
 * nothing about a key. Every key is looked up; only invalid ones are throttled. Fixed keys are admin keys.
 */
export function authenticator(deps: AuthenticatorDeps): Authenticator {
  const { fixedKeys, store, invalidKeys, addressOf } = deps;
  const operators = new Set(deps.operators);
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
      invalidKeys.count(clientNetwork(addressOf(request) ?? ''));
      throw invalidKey(`Invalid API key. ${AUTH_HINT}`);
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
