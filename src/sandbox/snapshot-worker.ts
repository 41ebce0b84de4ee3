/** Entry point of a process that writes the memory snapshot of Python into a folder, its only argument. It runs no program. */

import { buildSnapshot } from './memory-snapshot.ts';

await buildSnapshot(process.argv[2] ?? '');
