import { ServiceError } from '../../../src/contract/core/error.ts';
import type { VideoError } from '../../../src/contract/stores/video-store.ts';

/** The consequence of an engine error for the job. */
export type RunError =
  /** A retry may succeed. */
  | { readonly kind: 'retryable' }
  /** `isInternal`: the cause is unexpected and must be logged. */
  | { readonly kind: 'rejected'; readonly error: VideoError; readonly isInternal: boolean };

/** Classifies an error of `VideoEngine.extend`. Messages of a ServiceError are public. */
export function toRunError(error: unknown): RunError {
  if (!(error instanceof ServiceError)) return internalError();
  const { kind, code, message } = error;
  if (kind === 'overloaded' || kind === 'rate_limited') return { kind: 'retryable' };
  if (kind === 'upstream') return rejected({ code: 'upstream_error', message });
  if (kind === 'timeout') return rejected({ code: 'timeout', message });
  if (code === 'content_policy_violation') return rejected({ code, message });
  if (kind === 'invalid_request') return rejected({ code: 'generation_failed', message });
  return internalError();
}

function rejected(error: VideoError): RunError {
  return { kind: 'rejected', error, isInternal: false };
}

function internalError(): RunError {
  const message = 'Internal server error. The segment was not generated, and nothing is charged.';
  return { kind: 'rejected', error: { code: 'generation_failed', message }, isInternal: true };
}
