import { Button } from '@mantine/core';
import { useLocation, useRoute } from 'wouter';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { BatchDetail } from './batch-detail.tsx';
import { BatchList } from './batch-list.tsx';
import { NewBatch } from './new-batch.tsx';

/** Lists batches. `/batches/new` is the form for a new batch, `/batches/<id>` shows one batch. */
export default function BatchesPage() {
  const [, navigate] = useLocation();
  const [, params] = useRoute('/batches/:subpath?');
  const subpath = params?.subpath;
  const open = (id: string) => navigate(`/batches/${id}`);
  const action =
    subpath === undefined ? (
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => open('new')}>
        New batch
      </Button>
    ) : (
      <Button
        variant="default"
        leftSection={<Icon name="back" size={16} />}
        onClick={() => navigate('/batches')}
      >
        All batches
      </Button>
    );
  return (
    <Page
      title="Batches"
      text="Many requests in one file, processed within 24 hours at lower priority than live requests."
      actions={action}
    >
      {subpath === undefined && <BatchList />}
      {subpath === 'new' && <NewBatch onCreated={open} />}
      {subpath !== undefined && subpath !== 'new' && <BatchDetail key={subpath} id={subpath} />}
    </Page>
  );
}
