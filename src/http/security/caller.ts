import type { Caller, KeyHolder } from '../../contract/accounts/caller.ts';
import { ServiceError } from '../../contract/core/error.ts';
import type { Id } from '../../contract/core/id.ts';

interface Visit {
  readonly requestId: Id<'request'>;
  readonly startedMs: number;
  user?: KeyHolder;
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
export function identify(request: Request, user: KeyHolder): void {
  const visit = visits.get(request);
  if (visit === undefined) throw new Error('identify() before beginVisit()');
  visit.user = user;
}

/**
 * Who sent this request. For handlers of routes that need a key, which is all but the public ones:
 * on a route without a check there is no caller, and this throws.
 */
export function callerOf(request: Request): Caller {
  const { user, requestId } = checkedVisit(request);
  return { organization: user.organization, keyId: user.keyId, requestId };
}

/** As {@link callerOf}, with what the key may do. */
export function keyHolderOf(request: Request): KeyHolder {
  return checkedVisit(request).user;
}

/**
 * For what changes the keys of an organization.
 * @throws ServiceError 403 `permission_denied` when the key is no admin's.
 */
export function requireAdmin(request: Request): KeyHolder {
  const holder = keyHolderOf(request);
  if (holder.role === 'admin') return holder;
  throw denied("This needs an admin's key of your organization; this key is a member's.");
}

/**
 * For what changes the service for everybody.
 * @throws ServiceError 403 `permission_denied` when the key is no operator's.
 */
export function requireOperator(request: Request): KeyHolder {
  const holder = keyHolderOf(request);
  if (holder.operator) return holder;
  throw denied("This needs an admin's key of an organization that CONFIG names among 'operators'.");
}

function denied(message: string): ServiceError {
  return new ServiceError('forbidden', message, { code: 'permission_denied' });
}

function checkedVisit(request: Request): Visit & { readonly user: KeyHolder } {
  const visit = visits.get(request);
  if (visit?.user === undefined) throw new Error('the caller of a request without a checked key');
  return { ...visit, user: visit.user };
}
