import { Button, Group } from '@mantine/core';
import type { Pages } from '../client/use-pages.ts';

/** Buttons for older and newer pages; renders nothing if there is only one page. */
export function Pager({ pages }: { readonly pages: Pages<unknown> }) {
  const { newer, older, page } = pages;
  if (newer === undefined && !page?.has_more) return null;
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" size="compact-sm" disabled={newer === undefined} onClick={newer}>
        Newer
      </Button>
      <Button variant="default" size="compact-sm" disabled={older === undefined} onClick={older}>
        Older
      </Button>
    </Group>
  );
}
