import { integer, section, type ValuesOf } from '../section.ts';

const MAX_CONCURRENT = 100_000;
/** Default of `max_request_bytes`. */
const REQUEST_BYTES = 8 * 1024 * 1024;
/** Bodies of the maximum size of one key, and of all keys, that are received at the same time by default. */
const BODIES_PER_KEY = 8;
const BODIES_IN_TOTAL = 32;

/** Limits of the core, and those that several features share. */
export const LIMITS = section('limits', {
  /** Maximum size of a request body, in bytes. */
  requestBytes: integer('max_request_bytes', { min: 1024, max: 1_073_741_824, default: REQUEST_BYTES }),
  bodyBytesPerKey: integer('body_bytes_per_key', {
    min: 1024,
    default: undefined,
    example: BODIES_PER_KEY * REQUEST_BYTES,
    doc: 'of all request bodies that a key is sending, in memory; more get 429; default: 8 × max_request_bytes',
  }),
  bodyBytesTotal: integer('body_bytes_total', {
    min: 1024,
    default: undefined,
    example: BODIES_IN_TOTAL * REQUEST_BYTES,
    doc: 'of all keys; more get 503; default: 32 × max_request_bytes',
  }),
  /** Maximum number of code points of a speech `input`; at most the limit of the specification (8: 5000). */
  speechCharacters: integer('speech_max_characters', { min: 1, max: 5000, default: 5000 }),
  /** Maximum number of concurrent speech requests per organization. */
  speechRequestsPerOrganization: integer('speech_requests_per_organization', {
    min: 1,
    max: MAX_CONCURRENT,
    default: ({ halfOfQueue }) => halfOfQueue,
    example: 128,
    doc: 'concurrent requests; default: half of queue_limit; further requests get 429; one key may use 7/8',
  }),
  /** Maximum length of audio to transcribe, in seconds. */
  transcriptionSeconds: integer('transcription_max_seconds', {
    min: 1,
    max: 86_400,
    default: 7200,
    doc: 'of audio per file',
  }),
  /** Maximum number of concurrent uploads per organization. */
  uploadsPerOrganization: integer('uploads_per_organization', {
    min: 1,
    max: MAX_CONCURRENT,
    default: 32,
    doc: 'concurrent uploads; further uploads get 429; one key may use 7/8',
  }),
});

/** The limits, with the memory for bodies that are being received. A body of the maximum size always fits. */
export function coreLimits({ bodyBytesPerKey, bodyBytesTotal, ...limits }: ValuesOf<typeof LIMITS.settings>) {
  const { requestBytes } = limits;
  const bodies = {
    bytesPerKey: Math.max(requestBytes, bodyBytesPerKey ?? BODIES_PER_KEY * requestBytes),
    totalBytes: Math.max(requestBytes, bodyBytesTotal ?? BODIES_IN_TOTAL * requestBytes),
  };
  return Object.freeze({ ...limits, bodies });
}
