import { systemClock } from '../src/kit/clock.ts';

/** The service itself, for which it is tomorrow: what is removed after a day is removed at its start. */
const DAY_MS = 25 * 3_600_000;

Object.assign(systemClock, { now: () => Date.now() + DAY_MS });
await import('../src/main.ts');
