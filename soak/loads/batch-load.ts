import { BATCH_ENDS, type BatchOnWire } from '../../tools/harness/services/batch-service.ts';
import type { LineFate } from '../report/ledger.ts';
import type { SoakClient } from '../site/soak-client.ts';
import { EMBED_MODEL } from '../site/soak-config.ts';
import { upload } from './file-load.ts';
import type { Load } from './load.ts';
import { type Material, wordsOfLength } from './material.ts';

const LINES = 300;
/** One of this many lines has an unknown model. */
const UNKNOWN_EVERY = 20;
const POLL_MS = 2000;
const ENDPOINT = '/v1/embeddings';

/** The input file and the expected result of each line. Lines have different lengths. */
function linesOf({ tokensAround }: Material): { text: string; lines: Map<string, LineFate> } {
  const lines = new Map<string, LineFate>();
  const text = Array.from({ length: LINES }, (_, at) => {
    const isUnknown = at % UNKNOWN_EVERY === UNKNOWN_EVERY - 1;
    const words = 1 + (at % 100);
    const custom_id = `line-${at}`;
    lines.set(custom_id, isUnknown ? { error: 'model_not_found' } : { tokens: words + tokensAround });
    const body = { model: isUnknown ? 'unknown' : EMBED_MODEL, input: wordsOfLength(words) };
    return `${JSON.stringify({ custom_id, method: 'POST', url: ENDPOINT, body })}\n`;
  }).join('');
  return { text, lines };
}

async function batchRound(client: SoakClient, material: Material): Promise<void> {
  const { text, lines } = linesOf(material);
  const input = await upload(client, Uint8Array.from(Buffer.from(text)));
  if (input === undefined) return;
  const created = await client.insist({
    path: '/v1/batches',
    method: 'POST',
    headers: { 'idempotency-key': crypto.randomUUID() },
    body: { input_file_id: input, endpoint: ENDPOINT, completion_window: '24h' },
  });
  if (created === undefined) return;
  const { id } = created.json<BatchOnWire>();
  const { ledger, organization, site, signal } = client.parts;
  ledger.batches.push({ id, organization, site, lines });
  // Results are checked at the end of the run; here only the number of concurrent batches is limited.
  while (!signal.aborted) {
    const response = await client.sendRequest({ path: `/v1/batches/${id}` });
    if (response && BATCH_ENDS.has(response.json<BatchOnWire>().status)) return;
    await Bun.sleep(POLL_MS);
  }
}

/** Batches, one after the other. */
export const batchLoad: Load = {
  name: 'batches',
  organization: 'batches',
  site: 'main',
  pauseMs: 5000,
  round: batchRound,
};

export const smallBatchLoad: Load = { ...batchLoad, name: 'batches on the small disk', site: 'small' };
