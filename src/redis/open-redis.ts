import { Redis, type RedisOptions } from 'ioredis';
import { StartError } from '../contract/core/error.ts';
import type { Secret } from '../contract/core/secret.ts';

export type { Redis } from 'ioredis';

const CONNECT_LIMIT_MS = 5_000;
/** A command that Redis does not answer in time is one that it does not answer. */
const COMMAND_LIMIT_MS = 1_000;

type Options = Omit<RedisOptions, 'replyMapping'>;

/** What a request waits for: a command fails soon while Redis is away. */
const HASTY: Options = {
  commandTimeout: COMMAND_LIMIT_MS,
  maxRetriesPerRequest: 1,
  enableOfflineQueue: false,
  lazyConnect: true,
};

/**
 * Connects to the Redis that several machines share. The caller ends it with `disconnect`.
 * @throws StartError when it cannot be reached; the address is not in the message, as it may hold a password.
 */
export function openRedis(url: Secret): Promise<Redis> {
  return connect(url, { ...HASTY, keyPrefix: 'voice-service:' });
}

/** The same for a queue, which names its keys by itself. */
export function openQueueRedis(url: Secret): Promise<Redis> {
  return connect(url, HASTY);
}

/**
 * A connection for work that nobody waits for: it is made by itself, and commands wait until Redis is there. The
 * caller ends it with `disconnect`; commands that wait fail then.
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
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'it does not answer';
    throw new StartError(
      `Environment variable REDIS_URL: the Redis server cannot be reached (${reason}). It must run and let this service in.`,
      { cause: error },
    );
  }
}

function create(url: Secret, options: Options): Redis {
  const redis = new Redis(url.reveal(), { connectTimeout: CONNECT_LIMIT_MS, ...options });
  // Failures are those of the commands; without a listener the process would end.
  redis.on('error', () => undefined);
  return redis;
}
