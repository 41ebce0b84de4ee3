/** Reads job objects of video servers: vLLM-Omni, SGLang (partner-and-upstreams B.2, B.8), OpenAI. */

import { invalidRequest, type ServiceError } from '../../../contract/core/error.ts';
import { upstreamError } from '../client/upstream-error.ts';
import { fieldsOf, textOf } from '../client/wire-values.ts';

export type UpstreamVideoJob =
  | { readonly kind: 'running' }
  | { readonly kind: 'completed' }
  /** The server does not know the job. Servers keep jobs in memory, so a restart loses them. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly error: ServiceError };

const RUNNING_STATES: ReadonlySet<string> = new Set([
  'queued',
  'pending',
  'in_progress',
  'processing',
  'running',
]);
const FAILED_STATES: ReadonlySet<string> = new Set([
  'failed',
  'cancelled',
  'cancelling',
  'canceled',
  'expired',
]);
const NOT_FOUND = 404;
/** Error codes and messages of a content filter. */
const POLICY = /content[ _-]?(policy|filter)|moderation|guardrail|safety|nsfw|unsafe/i;

/** The id of a created job. @throws ServiceError `upstream` when there is none that is safe in a URL path. */
export function jobIdOf(body: string): string {
  const { id } = parseFields(body);
  if (typeof id === 'string' && /^[A-Za-z0-9_.-]{1,200}$/.test(id) && /[^.]/.test(id)) return id;
  throw upstreamError('the response is not a video job');
}

/**
 * Reads the state of a job. The body takes precedence over the HTTP status, because some servers return the status of the
 * failure with a failed job.
 */
export function readVideoJob(status: number, body: string): UpstreamVideoJob {
  const { status: state, error } = parseFields(body);
  const name = textOf(state);
  if (RUNNING_STATES.has(name)) return { kind: 'running' };
  if (name === 'completed') return { kind: 'completed' };
  if (FAILED_STATES.has(name)) return { kind: 'failed', error: convertError(error) };
  if (status === NOT_FOUND) return { kind: 'lost' };
  throw upstreamError(status < 400 ? 'the response is not a video job' : `it returned HTTP status ${status}`);
}

/** The error for a rejection by a content filter; undefined for other rejections. */
export function explainVideoRejection(status: number, body: string): ServiceError | undefined {
  return status < 500 && isPolicyError(parseFields(body).error) ? policyError() : undefined;
}

function convertError(error: unknown): ServiceError {
  return isPolicyError(error) ? policyError() : upstreamError('it could not generate the segment');
}

/** Checks only the code and the message of the error, because other fields may quote the prompt. */
function isPolicyError(error: unknown): boolean {
  const { code, message } = fieldsOf(error);
  return POLICY.test(`${textOf(code)} ${textOf(message)}`);
}

function policyError(): ServiceError {
  return invalidRequest(
    "The upstream server of this model rejected the 'prompt' or the clip because of its content policy.",
    'prompt',
    'content_policy_violation',
  );
}

function parseFields(body: string) {
  try {
    return fieldsOf(JSON.parse(body));
  } catch {
    return fieldsOf(undefined);
  }
}
