import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import type { ListPage } from '../client/service-client.ts';

/** Where somebody is in a list that the service gives page by page, newest first. */
export interface Paging {
  /** Goes into the query of the list. */
  readonly after: string | undefined;
  older(lastId: string): void;
  newer(): void;
  /** To the first page: the list is another one now, or has something new. */
  newest(): void;
}

export function usePaging(): Paging {
  const [afters, setAfters] = useState<readonly string[]>([]);
  return {
    after: afters.at(-1),
    older: (lastId) => setAfters((before) => [...before, lastId]),
    newer: () => setAfters((before) => before.slice(0, -1)),
    newest: () => setAfters([]),
  };
}

/** The way to older and newer pages; nothing where all fits one. */
export function Pager(props: { readonly paging: Paging; readonly page: ListPage<unknown> | undefined }) {
  const { paging, page } = props;
  const lastId = page?.has_more ? page.last_id : null;
  if (paging.after === undefined && lastId == null) return null;
  return (
    <Group justify="flex-end" gap="xs">
      <Button
        variant="default"
        size="compact-sm"
        disabled={paging.after === undefined}
        onClick={paging.newer}
      >
        Newer
      </Button>
      <Button
        variant="default"
        size="compact-sm"
        disabled={lastId == null}
        onClick={() => lastId != null && paging.older(lastId)}
      >
        Older
      </Button>
    </Group>
  );
}
