import { Skeleton } from '@mantine/core';
import { Waveform } from '../../audio/display/waveform.tsx';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';

/** Player for the stored clip of a voice. */
export function ClipSound({ id, name }: { readonly id: string; readonly name: string }) {
  const { client } = useSession();
  const { value, error, reload } = useLoad(
    (signal) => client.blob(`v1/audio/voices/${encodeURIComponent(id)}/audio`, { signal }),
    [client, id],
  );
  if (error !== undefined) return <ErrorAlert error={error} onRetry={reload} />;
  if (value === undefined) return <Skeleton height={126} />;
  return <Waveform sound={value} label={`Clip of ${name}`} />;
}
