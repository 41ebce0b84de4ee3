import { type Static, type TUnsafe, Type } from '@sinclair/typebox';
import type { LimitSettings } from '../../contract/accounts/limits.ts';
import type { PicoCredits, Price } from '../../contract/accounts/prices.ts';
import type { EndpointLabel } from '../../contract/accounts/usage.ts';
import { hashApiKey, MAX_KEY_CHARACTERS, SAFE_KEY_CHARACTERS } from '../../kit/keys/api-key.ts';
import { scaledInteger } from '../../kit/validation/decimal.ts';
import { oneOf } from '../../kit/validation/type-errors.ts';
import { ConfigError } from '../config-error.ts';
import { ROOT } from '../config-file.ts';
import { integer, list, section, type ValuesOf, value } from '../section.ts';
import { textVariable } from '../variable.ts';

export const API_KEYS = textVariable('API_KEYS', {
  meaning:
    '`key:org,key2:org2`, fixed keys; if it is unset and no key is stored, the first start creates a key and prints it once',
});

const limit = (key: string, example: number, doc?: string) =>
  integer(key, {
    min: 1,
    max: 1_000_000_000,
    default: undefined,
    example,
    ...(doc !== undefined && { doc }),
  });

export const RATE_LIMITS = section(
  'rate_limits',
  {
    requestsPerKey: limit('requests_per_minute_per_key', 600),
    requestsPerOrganization: limit('requests_per_minute_per_organization', 3000),
    callsPerKey: limit(
      'concurrent_calls_per_key',
      20,
      'open billed calls: a synthesis, a realtime commit, a completion',
    ),
    callsPerOrganization: limit('concurrent_calls_per_organization', 100),
  },
  'no limits by default; counted in Redis if REDIS_URL is set',
);

export function rateLimits(limits: ValuesOf<typeof RATE_LIMITS.settings>): LimitSettings {
  return Object.freeze({
    requestsPerMinute: { key: limits.requestsPerKey, organization: limits.requestsPerOrganization },
    concurrentCalls: { key: limits.callsPerKey, organization: limits.callsPerOrganization },
  });
}

/** Credits per unit. */
const rate = Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 }));
const rates = {
  request: rate,
  input_token: rate,
  output_token: rate,
  character: rate,
  audio_second: rate,
};
type PriceEntry = Static<ReturnType<typeof priceEntry>>;

/** @param labels of the endpoints of this build; undefined: not checked. */
function priceEntry(labels: readonly EndpointLabel[] | undefined) {
  const endpoint: TUnsafe<EndpointLabel> = labels === undefined ? Type.Unsafe(Type.String()) : oneOf(labels);
  const model = Type.String({ minLength: 1, maxLength: 200 });
  return Type.Object({ endpoint, model, ...rates }, { additionalProperties: false });
}

/** Keys before the first table. @param labels of the endpoints of this build; undefined: not checked. */
export function accounts(labels: readonly EndpointLabel[] | undefined) {
  return section(ROOT, {
    /** Documented in docs/guide/operations.md. {@link parsePrices} checks the models. */
    prices: value<readonly PriceEntry[], readonly PriceEntry[]>(
      'prices',
      Type.Array(priceEntry(labels), { maxItems: 10_000 }),
      { default: [] },
    ),
    /** Organizations whose admin keys can enable and disable plugins of the whole service. */
    operators: list('operators', {
      pattern: '^[A-Za-z0-9._-]{1,64}$',
      maxItems: 1000,
      default: ['default'],
      doc: 'organizations whose admins may switch plugins of the whole service',
    }),
  });
}

/** A key of `API_KEYS`. Only its hash is stored. */
export interface FixedKey {
  readonly keyHash: string;
  readonly organization: string;
  /** Whether the key has fewer than {@link SAFE_KEY_CHARACTERS} characters. */
  readonly isShort: boolean;
}

/** Parses `key:org,key2:org2`. The organization follows the last colon, because keys can contain colons. */
export function parseApiKeys(text: string | undefined): readonly FixedKey[] {
  const keys = new Map<string, FixedKey>();
  for (const [index, item] of (text?.split(',') ?? []).entries()) {
    const match = /^([!-~]+):([A-Za-z0-9._-]{1,64})$/.exec(item.trim());
    const key = match?.[1];
    const organization = match?.[2];
    // Other characters cannot be sent in a header, or not consistently by all clients.
    if (key === undefined || organization === undefined || key.length > MAX_KEY_CHARACTERS) {
      throw new ConfigError(
        `Environment variable API_KEYS, entry ${index + 1}: must be key:organization, where the key is 1 to ${MAX_KEY_CHARACTERS} printable ASCII characters except space and comma, and the organization is 1 to 64 of A-Z a-z 0-9 . _ -`,
      );
    }
    const keyHash = hashApiKey(key);
    if (keys.has(keyHash)) {
      throw new ConfigError(`Environment variable API_KEYS, entry ${index + 1}: duplicate key.`);
    }
    keys.set(keyHash, { keyHash, organization, isShort: key.length < SAFE_KEY_CHARACTERS });
  }
  return Object.freeze([...keys.values()]);
}

/** Maximum number of decimal places of a price, in credits. */
const RATE_PLACES = 12;

/**
 * Parses the prices. A model that follows another one has its prices, except for endpoints with a price of its own.
 * @param path of the file, for error messages.
 * @param modelIds configured models.
 * @param followers by id: the model whose prices it has.
 * @throws ConfigError for an unknown model, a duplicate price and a price with too many decimal places.
 */
export function parsePrices(
  written: readonly PriceEntry[],
  path: string,
  modelIds: readonly string[],
  followers: ReadonlyMap<string, string>,
): readonly Price[] {
  const seen = new Set<string>();
  const prices = written.map((entry, index): Price => {
    const { endpoint, model } = entry;
    const location = `${path}: 'prices.${index}`;
    if (!modelIds.includes(model)) {
      throw new ConfigError(`${location}.model' is not a configured model; allowed: ${modelIds.join(', ')}.`);
    }
    if (seen.has(`${endpoint} ${model}`)) {
      throw new ConfigError(`${location}' is a duplicate price of '${endpoint}' with '${model}'.`);
    }
    seen.add(`${endpoint} ${model}`);
    const rateOf = (key: 'request' | 'input_token' | 'output_token' | 'character' | 'audio_second') => {
      const credits: PicoCredits | undefined = scaledInteger(String(entry[key] ?? 0), RATE_PLACES);
      if (credits !== undefined) return credits;
      throw new ConfigError(`${location}.${key}' must have at most ${RATE_PLACES} decimal places.`);
    };
    return Object.freeze({
      endpoint,
      model,
      request: rateOf('request'),
      inputToken: rateOf('input_token'),
      outputToken: rateOf('output_token'),
      character: rateOf('character'),
      audioSecond: rateOf('audio_second'),
    });
  });
  const followed = [...followers].flatMap(([model, follows]) =>
    prices
      .filter((price) => price.model === follows && !seen.has(`${price.endpoint} ${model}`))
      .map((price) => Object.freeze({ ...price, model })),
  );
  return Object.freeze([...prices, ...followed]);
}
