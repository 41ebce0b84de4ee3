import { ServiceError } from '../../../src/contract/core/error.ts';
import type { VideoError } from '../../../src/contract/stores/video-store.ts';

/** What a run of an engine that threw means for its job. */
export type RunFailure =
  /** It may go well later. */
  | { readonly kind: 'hindered' }
  /** `isOurs`: nobody knows why, so somebody should look. */
  | { readonly kind: 'refused'; readonly error: VideoError; readonly isOurs: boolean };

/** Reads an engine's failure (`VideoEngine.extend`); the message of a ServiceError is for the job's owner. */
export function runFailure(error: unknown): RunFailure {
  if (!(error instanceof ServiceError)) return unknown();
  const { kind, code, message } = error;
  if (kind === 'overloaded' || kind === 'rate_limited') return { kind: 'hindered' };
  if (kind === 'upstream') return refused({ code: 'upstream_error', message });
  if (kind === 'timeout') return refused({ code: 'timeout', message });
  if (code === 'content_policy_violation') return refused({ code, message });
  if (kind === 'invalid_request') return refused({ code: 'generation_failed', message });
  return unknown();
}

function refused(error: VideoError): RunFailure {
  return { kind: 'refused', error, isOurs: false };
}

function unknown(): RunFailure {
  const message = 'The segment could not be made. It is not your fault, and it costs nothing.';
  return { kind: 'refused', error: { code: 'generation_failed', message }, isOurs: true };
}
