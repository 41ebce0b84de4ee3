/** Estimates the progress of jobs from the generation times that this process has measured. */

import type { VideoRecord } from '../../../src/contract/stores/video-store.ts';

/** Used until the first measurement of a model. */
const FIRST_NS_PER_PIXEL = 300;
/** Weight of the newest measurement in the moving average. */
const NEWEST = 0.3;
/** Maximum progress of an unfinished job, in percent (spec 2.4). */
const MAX_PROGRESS = 95;
const MIN_POLL_MS = 1000;
const MAX_POLL_MS = 5000;

type Work = Pick<VideoRecord, 'model' | 'width' | 'height' | 'seconds' | 'clip'>;

export class ProgressEstimator {
  /** Average generation time, by model. */
  readonly #nsPerPixel = new Map<string, number>();

  /** Records the generation time of a segment. */
  recordDuration(work: Work, elapsedMs: number): void {
    const before = this.#nsPerPixel.get(work.model);
    const newest = (elapsedMs * 1e6) / pixelsOf(work);
    this.#nsPerPixel.set(work.model, before === undefined ? newest : before + NEWEST * (newest - before));
  }

  /** Percent: 0 while queued, then an estimate of at most 95 from the elapsed time, 100 when completed (spec 2.4). */
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

  /** Recommended delay before the next poll of an unfinished job: its estimated remaining time, 1 to 5 s. */
  pollAfterMs(video: VideoRecord, nowMs: number): number {
    const leftMs = this.#expectedMs(video) - this.#elapsedMs(video, nowMs);
    return Math.round(Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, leftMs)));
  }

  #expectedMs(work: Work): number {
    return (pixelsOf(work) * (this.#nsPerPixel.get(work.model) ?? FIRST_NS_PER_PIXEL)) / 1e6;
  }

  #elapsedMs({ startedAt }: VideoRecord, nowMs: number): number {
    return startedAt === undefined ? 0 : Math.max(0, nowMs - startedAt * 1000);
  }
}

/** The segment has the frame rate of its clip. */
function pixelsOf({ width, height, seconds, clip }: Work): number {
  return width * height * seconds * clip.fps;
}
