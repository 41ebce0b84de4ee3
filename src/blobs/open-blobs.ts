import type { Clock } from '../contract/core/clock.ts';
import type { BlobSettings } from '../contract/core/settings.ts';
import type { BlobStore } from '../contract/stores/blob-store.ts';
import { openDiskBlobs } from './disk-blobs.ts';

/**
 * Opens the store of blobs that the settings name. The caller closes it.
 * @param failed told of each request that a server of blobs did not answer, or refused.
 * @throws StartError when a bucket cannot be used.
 */
export async function openBlobs(
  settings: BlobSettings,
  clock: Clock,
  failed: () => void = () => undefined,
): Promise<BlobStore> {
  if (settings.kind === 'disk') return openDiskBlobs(settings.folder, clock);
  // Its client is large, and most services have no use for it.
  const { openS3Blobs } = await import('./s3-blobs.ts');
  return openS3Blobs(settings, clock, failed);
}
