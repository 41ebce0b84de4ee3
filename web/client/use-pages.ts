import { useState } from 'react';
import type { ListPage, Query } from './service-client.ts';
import { useSession } from './session.tsx';
import { type Loaded, type LoadOptions, useLoad } from './use-load.ts';

/** A paginated list, newest first, and the current page. */
export interface Pages<Item> extends Pick<Loaded<unknown>, 'error' | 'reload'> {
  /** The current page; undefined until it is loaded for the first time. */
  readonly page: ListPage<Item> | undefined;
  readonly isFirst: boolean;
  /** Undefined if there is no such page, or while it loads. */
  readonly older: (() => void) | undefined;
  readonly newer: (() => void) | undefined;
  /** Returns to the first page, for example after the filter changed or an item was created. */
  newest(): void;
}

/** @param query without `after`, which selects the page. */
export function usePages<Item>(
  path: string,
  query: Query,
  options?: LoadOptions<ListPage<Item>>,
): Pages<Item> {
  const { client } = useSession();
  const [afters, setAfters] = useState<readonly string[]>([]);
  const after = afters.at(-1);
  const {
    value: page,
    error,
    reload,
  } = useLoad(
    (signal) => client.list<Item>(path, { signal, query: { ...query, after } }),
    [client, path, JSON.stringify(query), after],
    options,
  );
  const lastId = page?.has_more ? page.last_id : null;
  // The previous page stays visible while the next one loads; a second click must not skip a page.
  const hasOlder = lastId != null && lastId !== after;
  return {
    page,
    error,
    reload,
    isFirst: after === undefined,
    older: hasOlder ? () => setAfters((before) => [...before, lastId]) : undefined,
    newer: after === undefined ? undefined : () => setAfters((before) => before.slice(0, -1)),
    newest: () => {
      setAfters([]);
      reload();
    },
  };
}
