/** Codes of realtime errors (spec 7) and the `error.type` of each (openai-wire 8.8). */

export const ERROR_TYPES = {
  invalid_request_error: 'invalid_request_error',
  unsupported_feature: 'invalid_request_error',
  buffer_overflow: 'invalid_request_error',
  response_in_progress: 'invalid_request_error',
  upstream_error: 'server_error',
  internal_error: 'server_error',
} as const;

export type RealtimeErrorCode = keyof typeof ERROR_TYPES;
export type RealtimeErrorType = (typeof ERROR_TYPES)[RealtimeErrorCode];
