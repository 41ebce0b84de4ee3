import { CLIENT_FAULTS } from './client-faults.ts';
import type { SoakFault } from './fault.ts';
import { PROCESS_FAULTS } from './process-faults.ts';
import { STORE_FAULTS } from './store-faults.ts';

/** In the order in which they strike: kinds in turn, and machines early, so that those that start again live for long. */
const ORDER = [
  ...['inference', 'machine', 'redis', 'half-open', 's3', 'small-machine', 'llama'],
  ...['disk', 'media', 'database', 'listener', 'slow-readers', 'video', 'redis-hangs'],
];

const position = ({ name }: SoakFault) => ORDER.indexOf(name);

export const FAULTS: readonly SoakFault[] = [...PROCESS_FAULTS, ...STORE_FAULTS, ...CLIENT_FAULTS].sort(
  (one, other) => position(one) - position(other),
);
