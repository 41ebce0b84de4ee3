import { Redis, type RedisOptions } from 'ioredis';
import { StartError } from '../contract/core/error.ts';
import type { Secret } from '../contract/core/secret.ts';

export type { Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 5_000;
/** Timeout of a command. */
const COMMAND_TIMEOUT_MS = 1_000;

type Options = Omit<RedisOptions, 'replyMapping'>;

/** Options for commands on the request path: they fail quickly while Redis is unavailable. */
const FAIL_FAST: Options = {
  commandTimeout: COMMAND_TIMEOUT_MS,
  maxRetriesPerRequest: 1,
  enableOfflineQueue: false,
  lazyConnect: true,
};

/**
 * Connects to the Redis that several machines share. The caller closes it with `disconnect`.
 * @throws StartError if Redis is unavailable; the message does not contain the address, which can include a
 *   password.
 */
export function openRedis(url: Secret): Promise<Redis> {
  return connect(url, { ...FAIL_FAST, keyPrefix: 'voice-service:' });
}

/** Connects for a job queue, which has its own key prefix. */
export function openQueueRedis(url: Secret): Promise<Redis> {
  return connect(url, FAIL_FAST);
}

/**
 * Creates a connection for background workers. It connects by itself, and commands wait until Redis is
 * available. The caller closes it with `disconnect`, which fails waiting commands.
 */
export function openWorkerRedis(url: Secret): Redis {
  return create(url, { maxRetriesPerRequest: null });
}

async function connect(url: Secret, options: Options): Promise<Redis> {
  const redis = create(url, options);
  try {
    await redis.connect();
    await redis.ping();
    return redis;
  } catch (error) {
    redis.disconnect();
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'no response';
    throw new StartError(
      `Environment variable REDIS_URL: cannot connect to Redis (${reason}). Check that it runs and accepts connections of this service.`,
      { cause: error },
    );
  }
}

function create(url: Secret, options: Options): Redis {
  const redis = new Redis(url.reveal(), { connectTimeout: CONNECT_TIMEOUT_MS, ...options });
  // Errors are reported by the commands; without a listener the process would exit.
  redis.on('error', () => undefined);
  return redis;
}
