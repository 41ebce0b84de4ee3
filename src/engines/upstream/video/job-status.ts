/** What video servers say of a job: vLLM-Omni, SGLang (partner-and-upstreams B.2, B.8), OpenAI. */

import { invalidRequest, type ServiceError } from '../../../contract/core/error.ts';
import { upstreamFault } from '../client/errors.ts';
import { fieldsOf, textOf } from '../client/wire-values.ts';

export type UpstreamVideoJob =
  | { readonly kind: 'open' }
  | { readonly kind: 'completed' }
  /** The server does not know it: its jobs live in its memory. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'failed'; readonly error: ServiceError };

const OPEN: ReadonlySet<string> = new Set(['queued', 'pending', 'in_progress', 'processing', 'running']);
const FAILED: ReadonlySet<string> = new Set(['failed', 'cancelled', 'cancelling', 'canceled', 'expired']);
const UNKNOWN = 404;
/** Codes and sentences about a prompt that a server's guard does not let through. */
const POLICY = /content[ _-]?(policy|filter)|moderation|guardrail|safety|nsfw|unsafe/i;

/** The id of a job that was taken. @throws ServiceError `upstream` when there is none that can stand in a path. */
export function jobIdOf(body: string): string {
  const { id } = parsed(body);
  if (typeof id === 'string' && /^[A-Za-z0-9_.-]{1,200}$/.test(id) && /[^.]/.test(id)) return id;
  throw upstreamFault('it answered with something else than a job');
}

/**
 * Reads the state of a job. A failed one may come with the status of its failure, so the body decides, whatever the
 * status is.
 */
export function readVideoJob(status: number, body: string): UpstreamVideoJob {
  const { status: state, error } = parsed(body);
  const name = textOf(state);
  if (OPEN.has(name)) return { kind: 'open' };
  if (name === 'completed') return { kind: 'completed' };
  if (FAILED.has(name)) return { kind: 'failed', error: failureOf(error) };
  if (status === UNKNOWN) return { kind: 'lost' };
  throw upstreamFault(
    status < 400 ? 'it answered with something else than a job' : `it answered with HTTP status ${status}`,
  );
}

/** What a caller may know of a refusal; undefined when it is not about the prompt. */
export function explainVideoRefusal(status: number, body: string): ServiceError | undefined {
  return status < 500 && isPolicy(parsed(body).error) ? policyError() : undefined;
}

function failureOf(error: unknown): ServiceError {
  return isPolicy(error) ? policyError() : upstreamFault('it could not make the segment');
}

/** Reads what a server says of its reason, and nothing beside it, which may be the prompt. */
function isPolicy(error: unknown): boolean {
  const { code, message } = fieldsOf(error);
  return POLICY.test(`${textOf(code)} ${textOf(message)}`);
}

function policyError(): ServiceError {
  return invalidRequest(
    "The server behind this model refused the 'prompt' or the clip by its content policy.",
    'prompt',
    'content_policy_violation',
  );
}

function parsed(body: string) {
  try {
    return fieldsOf(JSON.parse(body));
  } catch {
    return fieldsOf(undefined);
  }
}
