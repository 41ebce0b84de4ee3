/**
 * How long tests and clients wait for another process, in ms. Only a failure waits that long, so it is far above what a
 * busy machine needs. `TEST_PATIENCE` scales it: 3 triples it.
 */
export const PATIENCE_MS = 60_000 * Number(process.env.TEST_PATIENCE ?? 1);

/**
 * Options of a wait for background work, such as a video: under `SCHED_IDLE` it gets only the time of the cores that no other process
 * needs.
 */
export const BACKGROUND_PATIENCE = { timeout: 4 * PATIENCE_MS } as const;

/** Options of a wait, for the methods of Playwright and `vi.waitFor`. */
export const PATIENCE = { timeout: PATIENCE_MS } as const;
