import type { BlobStore } from '../../../src/contract/stores/blob-store.ts';
import {
  inputBlob,
  segmentBlob,
  thumbnailBlob,
  type VideoState,
  videoBlobs,
} from '../../../src/contract/stores/video-store.ts';

/** Deletes the blobs that a job does not need any more. Returns their number. */
export async function deleteUnneededBlobs(
  blobs: Pick<BlobStore, 'list' | 'delete' | 'deleteAll'>,
  video: VideoState,
  signal: AbortSignal,
): Promise<number> {
  if (video.status === 'failed') return await blobs.deleteAll(videoBlobs(video.id), signal);
  let count = 0;
  for await (const { name } of blobs.list(videoBlobs(video.id), signal)) {
    if (!isNeeded(name, video) && (await blobs.delete(name))) count += 1;
  }
  return count;
}

/** For jobs that have not failed: an open job needs its clip and its runner's output, a completed one only the output. */
function isNeeded(name: string, { id, status, runner = '' }: VideoState): boolean {
  const output = [segmentBlob(id, runner), thumbnailBlob(id, runner)];
  return output.includes(name) || (status !== 'completed' && name === inputBlob(id));
}
