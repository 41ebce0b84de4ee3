import { Button } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { Page } from '../../parts/page.tsx';
import { BatchDetail } from './batch-detail.tsx';
import { BatchList } from './batch-list.tsx';
import { NewBatch } from './new-batch.tsx';

type Shown =
  | { readonly kind: 'list' }
  | { readonly kind: 'new' }
  | { readonly kind: 'batch'; readonly id: string };

export default function BatchesPage() {
  const [shown, setShown] = useState<Shown>({ kind: 'list' });
  const toList = () => setShown({ kind: 'list' });
  const open = (id: string) => setShown({ kind: 'batch', id });
  const action =
    shown.kind === 'list' ? (
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setShown({ kind: 'new' })}>
        New batch
      </Button>
    ) : (
      <Button variant="default" leftSection={<Icon name="back" size={16} />} onClick={toList}>
        All batches
      </Button>
    );
  return (
    <Page
      title="Batches"
      text="Many requests in one file, done within a day beside everything that is live."
      actions={action}
    >
      {shown.kind === 'list' && <BatchList onOpen={open} />}
      {shown.kind === 'new' && <NewBatch onMade={open} />}
      {shown.kind === 'batch' && <BatchDetail id={shown.id} />}
    </Page>
  );
}
