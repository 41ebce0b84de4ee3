/** Requests that schemathesis makes from the API's own documentation; every answer must be as documented. */

import { SERVICE_KEY } from '../../test/support/launcher.ts';
import { pinned, runPeer } from '../python.ts';
import { report } from '../report.ts';
import { launchStubbedService } from '../stubbed-service.ts';

/** The seed is that of a day, so that every day tries others and a day's run can be repeated. */
const DAY_MS = 86_400_000;
const RUN_S = 180;

type Told =
  | { readonly kind: string; readonly faults: number }
  | { readonly operations: number; readonly requests: number; readonly output: string };

export async function benchApiFuzz(): Promise<void> {
  const { service, close } = await launchStubbedService();
  const seed = Math.floor(Date.now() / DAY_MS);
  try {
    const ask = { url: `${service.baseUrl}/swagger/json`, key: SERVICE_KEY, seconds: RUN_S, seed };
    const told = await runPeer<Told>('api_fuzz/fuzz.py', [], `${JSON.stringify(ask)}\n`);
    let faults = 0;
    const notes = [`Made by ${await pinned('api_fuzz')} in ${RUN_S} s with the seed ${seed}.`];
    let tried = { operations: 0, requests: 0, output: '' };
    for (const line of told) {
      if ('output' in line) tried = line;
      else {
        faults += line.faults;
        notes.push(`${line.kind}: ${line.faults}`);
      }
    }
    if (faults > 0) console.error(tried.output);
    const rows = [
      { measure: 'operations', ours: tried.operations, unit: '' },
      { measure: 'requests', ours: tried.requests, unit: '' },
      { measure: 'answers that are not as documented', ours: faults, unit: '', target: 0 },
    ];
    await report('api-fuzz', 'Requests made from the API documentation', rows, notes);
  } finally {
    await close();
  }
}
