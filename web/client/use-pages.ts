import { useState } from 'react';
import type { ListPage, Query } from './service-client.ts';
import { useSession } from './session.tsx';
import { type Loaded, type LoadOptions, useLoad } from './use-load.ts';

/** A list that the service gives page by page, newest first, and where somebody is in it. */
export interface Pages<Item> extends Pick<Loaded<unknown>, 'fault' | 'reload'> {
  /** The page that is shown; undefined until the first has come. */
  readonly page: ListPage<Item> | undefined;
  readonly isFirst: boolean;
  /** Undefined where there is none, and while it comes. */
  readonly older: (() => void) | undefined;
  readonly newer: (() => void) | undefined;
  /** To the first page: the list is another one now, or has something new. */
  newest(): void;
}

/** @param query without `after`, which tells the page. */
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
    fault,
    reload,
  } = useLoad(
    (signal) => client.list<Item>(path, { signal, query: { ...query, after } }),
    [client, path, JSON.stringify(query), after],
    options,
  );
  const lastId = page?.has_more ? page.last_id : null;
  // The page before is still shown while the next comes: a second click is not for one more.
  const hasOlder = lastId != null && lastId !== after;
  return {
    ...{ page, fault, reload, isFirst: after === undefined },
    older: hasOlder ? () => setAfters((before) => [...before, lastId]) : undefined,
    newer: after === undefined ? undefined : () => setAfters((before) => before.slice(0, -1)),
    newest: () => {
      setAfters([]);
      reload();
    },
  };
}
