import { CLIENT_FAULTS } from './client-faults.ts';
import type { SoakFault } from './fault.ts';
import { PROCESS_FAULTS } from './process-faults.ts';
import { STORE_FAULTS } from './store-faults.ts';

/** Order of injection. Kinds alternate; nodes are killed early, so that the restarted nodes run for a long time. */
const ORDER = [
  ...['inference', 'machine', 'redis', 'half-open', 's3', 'small-machine', 'llama'],
  ...['disk', 'media', 'database', 'listener', 'slow-readers', 'video', 'redis-hangs'],
];

const position = ({ name }: SoakFault) => ORDER.indexOf(name);

export const FAULTS: readonly SoakFault[] = [...PROCESS_FAULTS, ...STORE_FAULTS, ...CLIENT_FAULTS].sort(
  (one, other) => position(one) - position(other),
);
