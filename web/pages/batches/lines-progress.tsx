import { Progress } from '@mantine/core';
import { formatCount } from '../../components/format.ts';
import { linesDone } from './batch-view.ts';
import type { Batch } from './batch-wire.ts';

/** Progress of a batch: completed lines in green, failed lines in red. */
export function LinesProgress(props: { readonly batch: Batch; readonly size: 'sm' | 'lg' }) {
  const { batch, size } = props;
  const { total, completed, failed } = batch.request_counts;
  const done = linesDone(batch);
  return (
    <Progress.Root size={size}>
      <Progress.Section
        value={done.completed}
        color="green"
        aria-label={`${formatCount(completed)} of ${formatCount(total)} lines completed`}
      />
      <Progress.Section value={done.failed} color="red" aria-label={`${formatCount(failed)} lines failed`} />
    </Progress.Root>
  );
}
