/** Bodies of responses about stored objects (openai-wire 1.7). */

/** A page of a list. @param data the objects of the page. */
export function listBody<Item extends { readonly id: string }>(data: readonly Item[], hasMore: boolean) {
  return {
    object: 'list' as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** The response to a deletion. @param object what the response is, such as `api_key.deleted`. */
export function deletedBody(object: string, id: string) {
  return { id, object, deleted: true };
}
