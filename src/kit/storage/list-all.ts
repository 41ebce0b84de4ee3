/** Number of entries per store query. */
const PAGE_SIZE = 100;

/**
 * Yields all entries of a list, page by page.
 * @param listPage lists at most `limit` entries after `last`, the last entry of the previous page.
 * @throws the signal's reason after an abort, also within a page.
 */
export async function* listAll<Entry>(
  listPage: (limit: number, last?: Entry) => Promise<readonly Entry[]>,
  signal: AbortSignal,
): AsyncGenerator<Entry, void, undefined> {
  let last: Entry | undefined;
  for (;;) {
    signal.throwIfAborted();
    const page = await listPage(PAGE_SIZE, last);
    for (const entry of page) {
      signal.throwIfAborted();
      yield entry;
    }
    last = page.at(-1);
    if (page.length < PAGE_SIZE) return;
  }
}
