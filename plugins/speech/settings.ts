import { integer, section } from '../../src/config/section.ts';

export const speechSettings = [
  section('limits', {
    /** Size of a file to transcribe. */
    transcriptionBytes: integer('transcription_max_bytes', {
      min: 1024,
      max: 1_073_741_824,
      default: 25 * 1024 * 1024,
      doc: 'per file; max_request_bytes applies to all other requests',
    }),
    /** Transcriptions and translations. */
    transcriptionRequestsPerOrganization: integer('transcription_requests_per_organization', {
      min: 1,
      max: 100_000,
      default: ({ halfOfQueue }) => halfOfQueue,
      example: 128,
      doc: 'concurrent requests; default: half of queue_limit; further requests get 429; one key may use 7/8',
    }),
  }),
] as const;
