import type { Id } from '../../../../src/contract/core/id.ts';

/**
 * Returns the id of a part of a response, e.g. `msg_5f0c…_2` of `resp_5f0c…`. It contains the id of the
 * response, so that the part can be found.
 */
export function partId<Prefix extends string>(
  prefix: Prefix,
  response: Id<'resp_'>,
  part: string,
): Id<Prefix> {
  return `${prefix}${response.slice('resp_'.length)}_${part}`;
}
