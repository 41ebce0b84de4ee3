import type { Caller } from '../contract/caller.ts';
import type { Id } from '../contract/id.ts';
import type { LimitedUser } from '../contract/limits.ts';

interface Visit {
  readonly requestId: Id<'request'>;
  readonly startedMs: number;
  user?: LimitedUser;
}

/** What the core knows of each request while it is being answered; gone with the request. */
const visits = new WeakMap<Request, Visit>();

/** Notes the arrival of a request. Called once, by the core's first hook. */
export function beginVisit(request: Request, requestId: Id<'request'>, startedMs: number): void {
  visits.set(request, { requestId, startedMs });
}

/** The visit of a request, or undefined when the request never passed the core's first hook. */
export function visitOf(request: Request): Readonly<Visit> | undefined {
  return visits.get(request);
}

/** Notes whose key came with this request. */
export function identify(request: Request, user: LimitedUser): void {
  const visit = visits.get(request);
  if (visit === undefined) throw new Error('identify() before beginVisit()');
  visit.user = user;
}

/**
 * Who sent this request. For handlers of routes that need a key, which is all but the public ones:
 * on a route without a check there is no caller, and this throws.
 */
export function callerOf(request: Request): Caller {
  const visit = visits.get(request);
  if (visit?.user === undefined) throw new Error('callerOf() on a request without a checked key');
  return { ...visit.user, requestId: visit.requestId };
}
