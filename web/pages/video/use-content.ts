import { useSession } from '../../client/session.tsx';
import { type Loaded, useLoad } from '../../client/use-load.ts';

/**
 * Fetches a video or its thumbnail; does nothing while `id` is undefined. A media element cannot send the API
 * key.
 */
export function useContent(id: string | undefined, variant: 'video' | 'thumbnail'): Loaded<Blob | undefined> {
  const { client } = useSession();
  return useLoad(
    async (signal) => {
      if (id === undefined) return undefined;
      return client.blob(`v1/videos/${encodeURIComponent(id)}/content`, { signal, query: { variant } });
    },
    [client, id, variant],
  );
}
