import { systemClock } from '../../src/kit/clock.ts';

/** Runs the service with the clock of the next day, so that its first sweep removes everything that is older than a day. */
const DAY_MS = 25 * 3_600_000;

Object.assign(systemClock, { now: () => Date.now() + DAY_MS });
await import('../../server/main.ts');
