import { ServiceError } from '../../contract/core/error.ts';
import { newId } from '../../contract/core/id.ts';
import { toErrorResponse } from '../response/error-body.ts';
import { SECURITY_HEADERS } from '../security/security-headers.ts';

/**
 * Handles requests while plugins and models start, before the app exists: `/healthz` returns 200, `/readyz` returns 503
 * with the starting plugins, every other path returns 503 with `retry-after`.
 */
export function startingResponse(request: Request, plugins: readonly string[]): Response {
  const headers = { ...SECURITY_HEADERS, 'x-request-id': newId('req_') };
  switch (URL.parse(request.url)?.pathname) {
    case '/healthz':
      return Response.json({ status: 'ok' }, { headers });
    case '/readyz': {
      const state = { state: 'starting', ready: false };
      const states = Object.fromEntries(plugins.map((plugin) => [plugin, state]));
      return Response.json({ status: 'starting', plugins: states, models: {} }, { status: 503, headers });
    }
    default:
      return toErrorResponse(
        new ServiceError('overloaded', 'Server is starting, retry later.', {
          code: 'server_overloaded',
          retryAfterS: 1,
        }),
      );
  }
}
