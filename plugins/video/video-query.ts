/** What may stand in the query of a list and of a download (openai-wire 7). */

import { invalidRequest } from '../../src/contract/error.ts';
import { integerIn, readQuery } from '../../src/http/query.ts';
import type { Variant } from './videos.ts';

const LIMIT = { minimum: 0, maximum: 100, fallback: 20 };
const ORDERS = ['asc', 'desc'] as const;
const VARIANTS = ['video', 'thumbnail'] as const;

/** @throws ServiceError `invalid_request` that names the parameter. */
export function parseVideoQuery(request: Request) {
  const { limit, order = 'desc', after } = readQuery(request, ['limit', 'order', 'after']);
  const known = ORDERS.find((each) => each === order);
  if (known === undefined) {
    throw invalidRequest(`'order' must be one of ${ORDERS.join(', ')}.`, 'order', 'invalid_value');
  }
  return { limit: integerIn('limit', limit, LIMIT), order: known, after };
}

/** @throws ServiceError `invalid_request` that names the parameter. */
export function variantOf(request: Request): Variant {
  const { variant = 'video' } = readQuery(request, ['variant']);
  const known = VARIANTS.find((each) => each === variant);
  if (known !== undefined) return known;
  throw invalidRequest(`'variant' must be one of ${VARIANTS.join(', ')}.`, 'variant', 'unsupported_value');
}
