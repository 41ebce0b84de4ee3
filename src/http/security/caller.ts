import type { Caller, Principal } from '../../contract/accounts/caller.ts';
import { ServiceError } from '../../contract/core/error.ts';
import type { Id } from '../../contract/core/id.ts';

/** State of a request between the first hook and the end of its response. */
interface RequestContext {
  readonly requestId: Id<'req_'>;
  readonly startedMs: number;
  principal?: Principal;
}

/** Contexts by request; an entry is garbage-collected with its request. */
const contexts = new WeakMap<Request, RequestContext>();

/** Creates the context of a request. Called once per request, by the first hook. */
export function startRequestContext(request: Request, requestId: Id<'req_'>, startedMs: number): void {
  contexts.set(request, { requestId, startedMs });
}

/** The context of a request, or undefined if the request did not pass the first hook. */
export function requestContextOf(request: Request): Readonly<RequestContext> | undefined {
  return contexts.get(request);
}

/** Stores the principal of the request's API key in its context. */
export function setPrincipal(request: Request, principal: Principal): void {
  const context = contexts.get(request);
  if (context === undefined) throw new Error('setPrincipal() before startRequestContext()');
  context.principal = principal;
}

/**
 * The caller of a request, for handlers of routes that need an API key. Throws on public routes, whose requests have no
 * caller.
 */
export function callerOf(request: Request): Caller {
  const { principal, requestId } = authenticatedContext(request);
  return { organization: principal.organization, keyId: principal.keyId, requestId };
}

/** Like {@link callerOf}, with the permissions of the key. */
export function principalOf(request: Request): Principal {
  return authenticatedContext(request).principal;
}

/**
 * Guards operations that change the API keys of an organization.
 * @throws ServiceError 403 `permission_denied` if the key is not an admin key.
 */
export function requireAdmin(request: Request): Principal {
  const principal = principalOf(request);
  if (principal.role === 'admin') return principal;
  throw permissionDenied(
    'This operation requires an admin key of your organization; this key is a member key.',
  );
}

/**
 * Guards operations that affect the whole service.
 * @throws ServiceError 403 `permission_denied` if the key is not an operator key.
 */
export function requireOperator(request: Request): Principal {
  const principal = principalOf(request);
  if (principal.operator) return principal;
  throw permissionDenied(
    "This operation requires an admin key of an organization that CONFIG lists under 'operators'.",
  );
}

function permissionDenied(message: string): ServiceError {
  return new ServiceError('forbidden', message, { code: 'permission_denied' });
}

function authenticatedContext(request: Request): RequestContext & { readonly principal: Principal } {
  const context = contexts.get(request);
  if (context?.principal === undefined) throw new Error('the request has no authenticated caller');
  return { ...context, principal: context.principal };
}
