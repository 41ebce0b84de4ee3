/**
 * The `openai` package of Python, which knows nothing of this service, goes through the scenario of the text
 * clients over an upstream whose answers are known. Its sisters in TypeScript are part of the tests.
 */

import { isDeepStrictEqual } from 'node:util';
import { SERVICE_KEY } from '../../test/support/launcher.ts';
import { FLOWS, scriptedOf } from '../../test/support/scripted-text-upstream.ts';
import { pinned, runPeer } from '../python.ts';
import { type Row, report } from '../report.ts';
import { EMBED_MODEL, launchStubbedService, TEXT_MODEL } from '../stubbed-service.ts';

type Told = { readonly flow: string; readonly [name: string]: unknown };

export async function benchTextClients(): Promise<void> {
  const { service, close } = await launchStubbedService();
  const notes: string[] = [];
  let rows: Row[];
  try {
    const ask = {
      base_url: `${service.baseUrl}/v1`,
      key: SERVICE_KEY,
      model: TEXT_MODEL,
      embed_model: EMBED_MODEL,
    };
    const told = await runPeer<Told>('text_clients/openai_client.py', [], `${JSON.stringify(ask)}\n`);
    rows = [...FLOWS, 'responses.stored'].map((flow) => {
      const found = told.find((line) => line.flow === flow);
      const same = isDeepStrictEqual(found, { flow, ...scriptedOf(flow) });
      if (!same) notes.push(`${flow}: ${JSON.stringify(found)}`);
      return {
        measure: `openai, ${flow}: differs from what was scripted`,
        ours: Number(!same),
        unit: '',
        target: 0,
      };
    });
  } finally {
    await close();
  }
  notes.push(`Unmodified: ${await pinned('text_clients')}; pointed here by its base URL alone.`);
  await report('text-clients', 'Text clients in Python', rows, notes);
}
