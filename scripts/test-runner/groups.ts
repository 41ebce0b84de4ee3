/**
 * A group of tests, run by one vitest process, so that a crash of native code costs one group. The suffix of a file names its
 * group (`x.process.test.ts`); without a suffix, tests next to the code are unit tests and those of `test/` end-to-end tests.
 */
export interface Group {
  /** Its project in vitest.config.ts. */
  readonly name: string;
  readonly workers: number;
  /** A failure is real: there is no second run, and no later group. */
  readonly isStrict?: true;
}

/** The default tier, in order: the fastest and most precise tests first. */
export const GROUPS: readonly Group[] = [
  // No process, no socket, no real time.
  { name: 'unit', workers: 2, isStrict: true },
  // Sockets on the loopback interface, no other process.
  { name: 'api', workers: 2, isStrict: true },
  // Child processes and servers. More workers than cores, because these tests often wait.
  { name: 'process', workers: 3 },
  // The service in a process of its own, browsers and other clients.
  { name: 'e2e', workers: 3 },
  // Real models.
  { name: 'models', workers: 2 },
];

/** Containers, rolling restarts, kills, and the repetitions of the default tier, one file at a time. */
export const DEEP: Group = { name: 'deep', workers: 1 };

/** The part of it that runs before every landing. Its files start servers of their own, and often wait for them. */
export const GATE: Group = { ...DEEP, workers: 2 };
