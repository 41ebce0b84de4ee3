/** Query parameters that several routes have: their documentation and their validation. */

import { pageQuery, queryParameter } from './openapi/route-docs.ts';
import { type IntegerRule, type PageQuery, pageIn, readQuery } from './request/query.ts';
import type { RouteQuery } from './route.ts';

/** The query of a list that can be sorted by creation time. @param plural noun of its entries. */
export function listQuery(plural: string, limits: IntegerRule): RouteQuery<PageQuery> {
  return {
    parameters: pageQuery(plural, limits),
    read: (request) => pageIn(readQuery(request, ['limit', 'order', 'after']), limits),
  };
}

/**
 * The query of a list whose newest entry is always first.
 * @param texts descriptions of the parameters.
 */
export function newestFirstQuery(
  limits: IntegerRule,
  texts: { readonly limit: string; readonly after: string },
): RouteQuery<Pick<PageQuery, 'limit' | 'after'>> {
  const { minimum, maximum, fallback } = limits;
  return {
    parameters: [
      queryParameter('limit', { type: 'integer', minimum, maximum, default: fallback }, texts.limit),
      queryParameter('after', { type: 'string' }, texts.after),
    ],
    read: (request) => pageIn(readQuery(request, ['limit', 'after']), limits),
  };
}
