import { integer, section } from '../../src/config/section.ts';

export const videoSettings = [
  section('video', {
    maxConcurrentJobs: integer('max_concurrent_jobs', {
      min: 1,
      max: 64,
      default: 1,
      formerly: 'jobs_at_once',
      doc: 'per node; further jobs are queued',
    }),
  }),
  section('limits', {
    /** Requests that upload clips. */
    videoRequestsPerOrganization: integer('video_requests_per_organization', {
      min: 1,
      max: 100_000,
      default: 16,
      doc: 'concurrent uploads of clips, up to 200 MB each on disk; further requests get 429; one key may use 7/8',
    }),
    videosPerOrganization: integer('videos_per_organization', {
      min: 1,
      max: 100_000,
      default: 100,
      doc: 'unfinished jobs; further jobs get 429',
    }),
    storedVideoBytesPerOrganization: integer('stored_video_bytes_per_organization', {
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
      default: 10 * 1024 ** 3,
      doc: 'clips of unfinished jobs and generated segments; further jobs get 400',
    }),
  }),
] as const;
