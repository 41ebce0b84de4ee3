import type { BlobStore } from '../contract/blob-store.ts';
import type { Clock } from '../contract/clock.ts';
import type { DiskBlobSettings } from '../contract/settings.ts';
import { openDiskBlobs } from './disk-blobs.ts';

/** Opens the store of blobs that the settings name. The caller closes it. */
export async function openBlobs(settings: DiskBlobSettings, clock: Clock): Promise<BlobStore> {
  return openDiskBlobs(settings.folder, clock);
}
