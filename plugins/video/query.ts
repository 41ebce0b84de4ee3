/** What may stand in the query of a list and of a download (openai-wire 7). */

import { choiceIn, type PageQuery, pageIn, readQuery } from '../../src/http/request/query.ts';
import type { Variant } from './service.ts';

const LIMIT = { minimum: 0, maximum: 100, fallback: 20 };
const VARIANTS = ['video', 'thumbnail'] as const;

/** @throws ServiceError `invalid_request` that names the parameter. */
export function parseVideoQuery(request: Request): PageQuery {
  return pageIn(readQuery(request, ['limit', 'order', 'after']), LIMIT);
}

/** @throws ServiceError `invalid_request` that names the parameter. */
export function variantOf(request: Request): Variant {
  const { variant } = readQuery(request, ['variant']);
  return choiceIn('variant', variant, VARIANTS, 'unsupported_value') ?? 'video';
}
