/**
 * Requests that schemathesis makes from the API's own documentation; every answer must be as documented. A few of
 * them are part of the tests.
 */

import { fuzzApi, fuzzedBy } from '../../tools/harness/clients/api-fuzz.ts';
import { launchStubbedService } from '../../tools/harness/services/stubbed-service.ts';
import { report } from '../report.ts';

/** The seed is that of a day, so that every day tries others and a day's run can be repeated. */
const DAY_MS = 86_400_000;
const RUN_S = 180;

export async function benchApiFuzz(): Promise<void> {
  const { service, close } = await launchStubbedService();
  const seed = Math.floor(Date.now() / DAY_MS);
  try {
    const phases = 'examples,coverage,fuzzing';
    const found = await fuzzApi(service, { phases, seed, until: { seconds: RUN_S } });
    const faults = Object.values(found.faults).reduce((sum, count) => sum + count, 0);
    if (faults > 0) console.error(found.output);
    const rows = [
      { measure: 'operations', ours: found.operations, unit: '' },
      { measure: 'requests', ours: found.requests, unit: '' },
      { measure: 'answers that are not as documented', ours: faults, unit: '', target: 0 },
    ];
    await report('api-fuzz', 'Requests made from the API documentation', rows, [
      `Made by ${await fuzzedBy()} in ${RUN_S} s with the seed ${seed}.`,
      ...Object.entries(found.faults).map(([kind, count]) => `${kind}: ${count}`),
    ]);
  } finally {
    await close();
  }
}
