import { invalidRequest } from '../../contract/core/error.ts';

const MAX_KEY = 255;

/**
 * The `Idempotency-Key` header of a request, or undefined if it has none.
 * @throws ServiceError 400 for a key that is empty, longer than 255 characters or not printable ASCII.
 */
export function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.headers.get('idempotency-key');
  if (key === null || (/^[\x20-\x7e]+$/.test(key) && key.length <= MAX_KEY)) return key ?? undefined;
  throw invalidRequest(
    `'Idempotency-Key' must be 1 to ${MAX_KEY} printable ASCII characters.`,
    'Idempotency-Key',
    'invalid_value',
  );
}
