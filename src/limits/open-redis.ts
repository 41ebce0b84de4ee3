import { Redis } from 'ioredis';
import { StartError } from '../contract/error.ts';
import type { Secret } from '../contract/secret.ts';

const CONNECT_LIMIT_MS = 5_000;
/** A command that Redis does not answer in time is one that it does not answer. */
const COMMAND_LIMIT_MS = 1_000;

/**
 * Connects to the Redis that several machines share. The caller ends it with `disconnect`.
 * @throws StartError when it cannot be reached; the address is not in the message, as it may hold a password.
 */
export async function openRedis(url: Secret): Promise<Redis> {
  const redis = new Redis(url.reveal(), {
    lazyConnect: true,
    connectTimeout: CONNECT_LIMIT_MS,
    commandTimeout: COMMAND_LIMIT_MS,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    keyPrefix: 'voice-service:',
  });
  // Failures are those of the commands; without a listener the process would end.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    await redis.ping();
    return redis;
  } catch (error) {
    redis.disconnect();
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'it does not answer';
    throw new StartError(
      `Environment variable REDIS_URL: the Redis server cannot be reached (${reason}). It must run and let this service in.`,
      { cause: error },
    );
  }
}
