import { integer, section } from '../../src/config/section.ts';

export const responsesSettings = [
  section('limits', {
    /** For all endpoints together. */
    textRequestsPerOrganization: integer('text_requests_per_organization', {
      min: 1,
      max: 100_000,
      default: ({ halfOfQueue }) => halfOfQueue,
      example: 128,
      doc: 'concurrent requests to chat, embeddings and responses together; default: half of queue_limit',
    }),
  }),
] as const;
