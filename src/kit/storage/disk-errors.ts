import { ServiceError } from '../../contract/core/error.ts';

/** What a disk says that has no room, or none left for this user. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
/** Room comes back when other requests end, or when somebody makes some. */
const NO_ROOM_RETRY_AFTER_S = 30;

/** A full disk as the caller may know of it; anything else as it is. */
export function toDiskError(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && NO_ROOM.has(error.code))) return error;
  return new ServiceError('overloaded', 'The server has no room to store this now. Try again later.', {
    code: 'server_overloaded',
    retryAfterS: NO_ROOM_RETRY_AFTER_S,
    cause: error,
  });
}
