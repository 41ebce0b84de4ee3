import { Button, Group } from '@mantine/core';
import type { List } from '../client/use-list.ts';

/** Under a list that has another page. */
export function MoreButton({ list }: { readonly list: List<{ readonly id: string }> }) {
  if (!list.hasMore) return null;
  return (
    <Group justify="center">
      <Button variant="default" onClick={list.loadMore} loading={list.isLoading}>
        Show more
      </Button>
    </Group>
  );
}
