import { ServiceError } from '../../contract/core/error.ts';
import { newId } from '../../contract/core/id.ts';
import { errorAnswer } from '../response/error-body.ts';
import { SECURITY_HEADERS } from '../security/security-headers.ts';

/**
 * Answers while plugins and models are being started, before there is an app: `/healthz` is fine,
 * `/readyz` names the plugins that are awaited, everything else is asked to come again.
 */
export function startingAnswer(request: Request, plugins: readonly string[]): Response {
  const headers = { ...SECURITY_HEADERS, 'x-request-id': newId('request') };
  switch (URL.parse(request.url)?.pathname) {
    case '/healthz':
      return Response.json({ status: 'ok' }, { headers });
    case '/readyz': {
      const state = { state: 'starting', ready: false };
      const states = Object.fromEntries(plugins.map((plugin) => [plugin, state]));
      return Response.json({ status: 'starting', plugins: states, models: {} }, { status: 503, headers });
    }
    default:
      return errorAnswer(
        new ServiceError('overloaded', 'This server is starting. Send the request again.', {
          code: 'server_overloaded',
          retryAfterS: 1,
        }),
      );
  }
}
