import { timingSafeEqual } from 'node:crypto';
import type { ApiKeyStore } from '../../contract/accounts/api-key.ts';
import type { Principal } from '../../contract/accounts/caller.ts';
import { ServiceError } from '../../contract/core/error.ts';
import { hashApiKey, MAX_KEY_CHARACTERS } from '../../kit/keys/api-key.ts';
import { clientNetwork } from '../../kit/validation/network-address.ts';
import type { ClientAddress } from '../transport/client-address.ts';
import { asksForSocket, offeredProtocols } from '../transport/socket.ts';
import type { InvalidKeyThrottle } from './invalid-key-throttle.ts';

/** Headers that can carry an API key; every endpoint accepts all of them (spec 5, rule 3). */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-partner-secret'] as const;

/**
 * Prefixes of WebSocket subprotocols that carry an API key, because browsers cannot set headers on a WebSocket (spec 5,
 * rule 5). OpenAI's clients use the first one.
 */
const KEY_PROTOCOLS = ['openai-insecure-api-key.', 'ext-insecure-api-key.', 'bearer.'] as const;

const AUTH_HINT =
  "Pass it as 'Authorization: Bearer <API_KEY>', 'x-api-key: <API_KEY>' or 'x-partner-secret: <API_KEY>'. WebSockets in browsers: offer the subprotocols 'realtime' and 'ext-insecure-api-key.<API_KEY>'.";

/** Maximum number of different keys per request. Each is looked up. A key header has one, other places rarely any. */
const MAX_KEYS = 4;

/**
 * Reads the API keys of a request from its headers and, for a WebSocket, from its subprotocols: other requests cannot be
 * authenticated by them, even if they ask for an upgrade. A request may have several: a
 * reverse proxy adds its own `Authorization`, and some clients always send one. Other authentication schemes are ignored.
 * @param opensSocket whether the request asks for a WebSocket of a route that may open one.
 * @returns at least one key, without duplicates.
 * @throws ServiceError 401 `missing_api_key` when there is none, `invalid_api_key` when there are too many or the only
 *   credential is not a bearer token.
 */
export function keysFrom(headers: Headers, opensSocket: boolean): readonly string[] {
  const values = KEY_HEADERS.map((header) => headers.get(header)?.trim() ?? '');
  const [authorization = '', ...others] = values;
  const token = bearerToken(authorization);
  const keys = new Set([token ?? '', ...others, ...(opensSocket ? protocolKeys(headers) : [])]);
  keys.delete('');
  if (keys.size === 0) {
    if (token === undefined) {
      throw invalidKey(`The 'Authorization' header must contain a bearer token. ${AUTH_HINT}`);
    }
    throw new ServiceError('unauthenticated', `Missing API key. ${AUTH_HINT}`, { code: 'missing_api_key' });
  }
  if (keys.size > MAX_KEYS) throw invalidKey(`The request contains too many API keys. ${AUTH_HINT}`);
  return [...keys];
}

function protocolKeys(headers: Headers): readonly string[] {
  if (!asksForSocket(headers)) return [];
  return offeredProtocols(headers).flatMap((offered) => {
    const prefix = KEY_PROTOCOLS.find((each) => offered.startsWith(each));
    return prefix === undefined ? [] : offered.slice(prefix.length).trim();
  });
}

/** The token of an `Authorization` header; empty if there is none, undefined for another scheme. */
function bearerToken(value: string): string | undefined {
  if (value === '') return '';
  const match = /^bearer(?:\s+(.*))?$/is.exec(value);
  return match === null ? undefined : (match[1]?.trim() ?? '');
}

function invalidKey(message: string): ServiceError {
  return new ServiceError('unauthenticated', message, { code: 'invalid_api_key' });
}

/**
 * Resolves the principal of a request's API key.
 * @param opensSocket whether the request asks for a WebSocket of a route that may open one.
 */
export type Authenticator = (request: Request, opensSocket: boolean) => Promise<Principal>;

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
  return async (request, opensSocket) => {
    const keys = keysFrom(request.headers, opensSocket).filter((key) => key.length <= MAX_KEY_CHARACTERS);
    const found = await Promise.all(keys.map(principalOf));
    const [principal, ...others] = found.filter((each) => each !== undefined);
    if (principal === undefined) {
      for (const _ of keys) invalidKeys.count(clientNetwork(addressOf(request) ?? ''));
      throw invalidKey(`Invalid API key. ${AUTH_HINT}`);
    }
    // Either choice could bill the wrong organization.
    if (others.length > 0) throw invalidKey(`The request contains different API keys. ${AUTH_HINT}`);
    return principal;
  };

  /** The principal of a key, or undefined if the key is invalid. */
  async function principalOf(key: string): Promise<Principal | undefined> {
    const keyHash = hashApiKey(key);
    const hash = Buffer.from(keyHash, 'hex');
    let organization: string | undefined;
    for (const candidate of fixed) {
      // No early exit: the time must not reveal which key matched.
      if (timingSafeEqual(candidate.hash, hash)) organization = candidate.organization;
    }
    const stored = organization === undefined ? await store.findByHash(keyHash) : undefined;
    organization ??= stored?.organization;
    if (organization === undefined) return undefined;
    const role = stored?.role ?? 'admin';
    return {
      organization,
      keyId: keyHash.slice(0, KEY_ID_CHARACTERS),
      role,
      operator: role === 'admin' && operators.has(organization),
      ...(stored && { storedKey: stored.id }),
    };
  }
}
