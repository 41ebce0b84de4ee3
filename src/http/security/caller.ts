import type { Caller, Principal } from '../../contract/accounts/caller.ts';
import { ServiceError } from '../../contract/core/error.ts';
import type { Id } from '../../contract/core/id.ts';

/** State of a request between the first hook and the end of its response. */
interface RequestContext {
  readonly requestId: Id<'request'>;
  readonly startedMs: number;
  keyHolder?: Principal;
}

/** Contexts by request; an entry is garbage-collected with its request. */
const contexts = new WeakMap<Request, RequestContext>();

/** Creates the context of a request. Called once per request, by the first hook. */
export function startRequestContext(request: Request, requestId: Id<'request'>, startedMs: number): void {
  contexts.set(request, { requestId, startedMs });
}

/** The context of a request, or undefined if the request did not pass the first hook. */
export function requestContextOf(request: Request): Readonly<RequestContext> | undefined {
  return contexts.get(request);
}

/** Stores the holder of the request's API key in its context. */
export function attachKeyHolder(request: Request, keyHolder: Principal): void {
  const context = contexts.get(request);
  if (context === undefined) throw new Error('attachKeyHolder() before startRequestContext()');
  context.keyHolder = keyHolder;
}

/**
 * The caller of a request, for handlers of routes that need an API key. Throws on public routes, whose requests have no
 * caller.
 */
export function callerOf(request: Request): Caller {
  const { keyHolder, requestId } = authenticatedContext(request);
  return { organization: keyHolder.organization, keyId: keyHolder.keyId, requestId };
}

/** Like {@link callerOf}, with the permissions of the key. */
export function keyHolderOf(request: Request): Principal {
  return authenticatedContext(request).keyHolder;
}

/**
 * Guards operations that change the API keys of an organization.
 * @throws ServiceError 403 `permission_denied` if the key is not an admin key.
 */
export function requireAdmin(request: Request): Principal {
  const holder = keyHolderOf(request);
  if (holder.role === 'admin') return holder;
  throw permissionDenied(
    'This operation requires an admin key of your organization; this key is a member key.',
  );
}

/**
 * Guards operations that affect the whole service.
 * @throws ServiceError 403 `permission_denied` if the key is not an operator key.
 */
export function requireOperator(request: Request): Principal {
  const holder = keyHolderOf(request);
  if (holder.operator) return holder;
  throw permissionDenied(
    "This operation requires an admin key of an organization that CONFIG lists under 'operators'.",
  );
}

function permissionDenied(message: string): ServiceError {
  return new ServiceError('forbidden', message, { code: 'permission_denied' });
}

function authenticatedContext(request: Request): RequestContext & { readonly keyHolder: Principal } {
  const context = contexts.get(request);
  if (context?.keyHolder === undefined) throw new Error('the request has no authenticated caller');
  return { ...context, keyHolder: context.keyHolder };
}
