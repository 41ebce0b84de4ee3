/** How long segments take to make, as far as this process has seen, and what that tells of those being made. */

import type { VideoRecord } from '../../../src/contract/stores/video-store.ts';

/** Before the first has been made. */
const FIRST_NS_PER_PIXEL = 300;
/** Part of the newest in the mean. */
const NEWEST = 0.3;
/** What an unfinished job may show (spec 2.4). */
const MAX_PROGRESS = 95;
const SOONEST_POLL_MS = 1000;
const LATEST_POLL_MS = 5000;

type Work = Pick<VideoRecord, 'model' | 'width' | 'height' | 'seconds' | 'clip'>;

export class Pace {
  /** By model. */
  readonly #nsPerPixel = new Map<string, number>();

  /** Learns of a segment that was made in so long. */
  made(work: Work, elapsedMs: number): void {
    const before = this.#nsPerPixel.get(work.model);
    const newest = (elapsedMs * 1e6) / pixelsOf(work);
    this.#nsPerPixel.set(work.model, before === undefined ? newest : before + NEWEST * (newest - before));
  }

  /** Percent: 0 while queued, an estimate by the time that has passed of at most 95, 100 when it is there (spec 2.4). */
  progress(video: VideoRecord, nowMs: number): number {
    switch (video.status) {
      case 'completed':
        return 100;
      case 'in_progress': {
        const part = this.#elapsedMs(video, nowMs) / this.#expectedMs(video);
        return Math.min(MAX_PROGRESS, Math.floor(part * 100));
      }
      default:
        return 0;
    }
  }

  /** When to ask again for one that has not ended: about when it is likely to be there. */
  pollAfterMs(video: VideoRecord, nowMs: number): number {
    const leftMs = this.#expectedMs(video) - this.#elapsedMs(video, nowMs);
    return Math.round(Math.min(LATEST_POLL_MS, Math.max(SOONEST_POLL_MS, leftMs)));
  }

  #expectedMs(work: Work): number {
    return (pixelsOf(work) * (this.#nsPerPixel.get(work.model) ?? FIRST_NS_PER_PIXEL)) / 1e6;
  }

  #elapsedMs({ startedAt }: VideoRecord, nowMs: number): number {
    return startedAt === undefined ? 0 : Math.max(0, nowMs - startedAt * 1000);
  }
}

/** A segment has the rate of its clip. */
function pixelsOf({ width, height, seconds, clip }: Work): number {
  return width * height * seconds * clip.fps;
}
