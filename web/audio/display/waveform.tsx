import { Skeleton } from '@mantine/core';
import { type ComponentProps, lazy, Suspense } from 'react';

const Drawn = lazy(() => import('./drawn-waveform.tsx'));

/** Waveform with the browser's audio controls. The drawing library is loaded on first use. */
export function Waveform(props: ComponentProps<typeof Drawn>) {
  return (
    <Suspense fallback={<Skeleton height={126} />}>
      <Drawn {...props} />
    </Suspense>
  );
}
