/** Query parameters of the list and of downloads (openai-wire 7). */

import { choiceIn, type PageQuery, pageIn, readQuery } from '../../src/http/request/query.ts';
import type { Variant } from './service.ts';

const LIMIT = { minimum: 0, maximum: 100, fallback: 20 };
const VARIANTS = ['video', 'thumbnail'] as const;

/** @throws ServiceError `invalid_request` with the name of the parameter. */
export function parseVideoQuery(request: Request): PageQuery {
  return pageIn(readQuery(request, ['limit', 'order', 'after']), LIMIT);
}

/** @throws ServiceError `invalid_request` with the name of the parameter. */
export function variantOf(request: Request): Variant {
  const { variant } = readQuery(request, ['variant']);
  return choiceIn('variant', variant, VARIANTS, 'unsupported_value') ?? 'video';
}
