import type { Clock } from '../contract/core/clock.ts';
import type { BlobSettings } from '../contract/core/settings.ts';
import type { BlobStore } from '../contract/stores/blob-store.ts';
import { openDiskBlobs } from './disk-blobs.ts';

/**
 * Opens the configured blob store. The caller closes it.
 * @param failed is called with the error of each failed operation of the disk or request to an S3 server.
 * @throws StartError if the bucket cannot be used.
 */
export async function openBlobs(
  settings: BlobSettings,
  clock: Clock,
  failed: (error: unknown) => void = () => undefined,
): Promise<BlobStore> {
  if (settings.kind === 'disk') return openDiskBlobs(settings.folder, clock, failed);
  // Imported only if needed, because the S3 client is large.
  const { openS3Blobs } = await import('./s3-blobs.ts');
  return openS3Blobs(settings, clock, failed);
}
