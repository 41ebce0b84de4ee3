import fc from 'fast-check';

/**
 * The seed of all property tests: fixed, so that each run tests the same inputs, and random in the deep tier, where the
 * runner sets and prints it. `FC_SEED` repeats a run.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.FC_SEED ?? 20_261_121) });
