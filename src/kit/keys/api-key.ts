import { createHash, randomBytes } from 'node:crypto';

/** The longest key that is looked at. */
export const MAX_KEY_CHARACTERS = 512;

/** Random characters of base64url that make a key safe from guessing: 128 bits. */
export const SAFE_KEY_CHARACTERS = 22;

/** SHA-256 of a key in hex. Keys hold 256 random bits, so a fast hash without salt is enough. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

/** A fresh key of 256 random bits, e.g. `sk-4fJ…` (46 characters, safe in URLs and subprotocols). */
export function newApiKey(): string {
  return `sk-${randomBytes(32).toString('base64url')}`;
}
