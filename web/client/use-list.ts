import { useCallback, useEffect, useRef, useState } from 'react';
import type { Query } from './service-client.ts';
import { isAbort, type ServiceFault, toFault } from './service-fault.ts';
import { useSession } from './session.tsx';

export interface List<Item> {
  /** Undefined until the first page has come. */
  readonly items: readonly Item[] | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly fault: ServiceFault | undefined;
  /** Begins again with the first page. */
  reload(): void;
  /** Adds the next page. */
  loadMore(): void;
}

interface State<Item> {
  readonly items: readonly Item[] | undefined;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly fault: ServiceFault | undefined;
}

/**
 * A list of the service, page by page: the first when the page opens or `query` changes, more on demand.
 * @param query without `after`, which is the last item's id.
 */
export function useList<Item extends { readonly id: string }>(path: string, query: Query): List<Item> {
  const { client } = useSession();
  const [state, setState] = useState<State<Item>>({
    ...{ items: undefined, hasMore: false, isLoading: true, fault: undefined },
  });
  const running = useRef<AbortController>(undefined);
  const asked = JSON.stringify(query);

  const load = useCallback(
    (before: readonly Item[]) => {
      running.current?.abort();
      const abort = new AbortController();
      running.current = abort;
      setState((state) => ({ ...state, isLoading: true }));
      const page = { ...(JSON.parse(asked) as Query), after: before.at(-1)?.id };
      client.list<Item>(path, { query: page, signal: abort.signal }).then(
        ({ data, has_more: hasMore = false }) =>
          setState({ items: [...before, ...data], hasMore, isLoading: false, fault: undefined }),
        (error: unknown) => {
          if (abort.signal.aborted || isAbort(error)) return;
          setState((state) => ({ ...state, isLoading: false, fault: toFault(error) }));
        },
      );
    },
    [client, path, asked],
  );

  useEffect(() => {
    load([]);
    return () => running.current?.abort();
  }, [load]);

  const { items } = state;
  return {
    ...state,
    reload: useCallback(() => load([]), [load]),
    loadMore: useCallback(() => load(items ?? []), [load, items]),
  };
}
