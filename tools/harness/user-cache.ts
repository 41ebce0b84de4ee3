import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder of this project in the cache of the user, which all checkouts share. */
export const USER_CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'voice-service');
