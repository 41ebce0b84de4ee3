import type { BlobStore } from '../../src/contract/blob-store.ts';
import {
  inputBlob,
  segmentBlob,
  thumbnailBlob,
  type VideoState,
  videoBlobs,
} from '../../src/contract/video-store.ts';

/** Removes the blobs of a job that it does not need any more; how many. */
export async function tidyBlobs(
  blobs: Pick<BlobStore, 'list' | 'delete'>,
  video: VideoState,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  for await (const { name } of blobs.list(videoBlobs(video.id), signal)) {
    if (!isNeeded(name, video) && (await blobs.delete(name))) count += 1;
  }
  return count;
}

/** An open job needs its clip, and what its runner makes; a completed one what was made. */
function isNeeded(name: string, { id, status, runner = '' }: VideoState): boolean {
  if (status === 'failed') return false;
  const made = [segmentBlob(id, runner), thumbnailBlob(id, runner)];
  return made.includes(name) || (status !== 'completed' && name === inputBlob(id));
}
