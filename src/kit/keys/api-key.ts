import { createHash, randomBytes } from 'node:crypto';

/** Maximum length of an API key; longer ones are rejected without a lookup. */
export const MAX_KEY_CHARACTERS = 512;

/** Number of random base64url characters that make a key safe from guessing: 128 bits. */
export const SAFE_KEY_CHARACTERS = 22;

/**
 * Returns the SHA-256 of a key in hex. Keys contain 256 random bits, so a fast hash without salt is
 * sufficient.
 */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

/** Creates a key of 256 random bits, e.g. `sk-4fJ…` (46 characters, safe in URLs and subprotocols). */
export function newApiKey(): string {
  return `sk-${randomBytes(32).toString('base64url')}`;
}
