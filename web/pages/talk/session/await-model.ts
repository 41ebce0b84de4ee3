import { delay } from '../../../client/delay.ts';
import { handshakeError } from '../../../client/realtime-socket.ts';
import type { Query, ServiceClient } from '../../../client/service-client.ts';
import type { ServiceError } from '../../../client/service-error.ts';

/** Maximum interval in s: shorter than the suggestion of the service, so that the progress is current. */
const MAX_RETRY_S = 3;
const DEFAULT_RETRY_S = 1;

/**
 * Waits while the service downloads or loads a model that the connection needs.
 * @param onLoading called with the progress, for the user.
 * @returns any other reason of the failed handshake; undefined if the service accepts a connection now.
 * @throws the reason of `signal`.
 */
export async function awaitModel(
  client: ServiceClient,
  query: Query,
  onLoading: (progress: string) => void,
  signal: AbortSignal,
): Promise<ServiceError | undefined> {
  for (;;) {
    const error = await handshakeError(client, query, signal);
    if (error?.code !== 'model_loading') return error;
    onLoading(withoutRetry(error.message));
    await delay(Math.min(error.retryAfterS ?? DEFAULT_RETRY_S, MAX_RETRY_S) * 1000, signal);
  }
}

/** The page retries by itself. */
function withoutRetry(message: string): string {
  return message.replace(/\s*Retry in \d+ s\.$/, '');
}
