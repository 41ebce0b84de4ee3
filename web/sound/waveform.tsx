import { Skeleton } from '@mantine/core';
import { type ComponentProps, lazy, Suspense } from 'react';

const Drawn = lazy(() => import('./drawn-waveform.tsx'));

/** A sound as a picture, with the browser's own controls. What draws it is loaded when there is one. */
export function Waveform(props: ComponentProps<typeof Drawn>) {
  return (
    <Suspense fallback={<Skeleton height={126} />}>
      <Drawn {...props} />
    </Suspense>
  );
}
