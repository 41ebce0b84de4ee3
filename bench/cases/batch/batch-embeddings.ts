/** A batch of embeddings with the real model, compared with requests with many inputs each. */

import {
  launchService,
  NO_RECOGNISER,
  NO_SPEAKER,
  SERVICE_KEY,
} from '../../../tools/harness/services/launcher.ts';
import { embeddingTexts } from '../../batch/embedding-texts.ts';
import { runBatch } from '../../batch/run-batch.ts';
import { report } from '../../report.ts';
import type { Service } from '../../service.ts';
import { median } from '../../statistics.ts';

const MODEL = 'all-minilm-l6-v2';
const LINES = 5000;
const WARM_LINES = 500;
/** Inputs per request and concurrent requests of the baseline. Higher values do not increase its rate. */
const INPUTS = 64;
const CONCURRENT_REQUESTS = 4;
const ROUNDS = 3;
/** At least 0.9 of the rate of the baseline. */
const MAX_TIMES = 1 / 0.9;

const CONFIG = `
[models."smollm2-135m-instruct"]
kind = "upstream"
base_url = "http://127.0.0.1:9/v1"
model = "none"
${NO_SPEAKER}${NO_RECOGNISER}`;

export async function benchBatchEmbeddings(): Promise<void> {
  const service = await launchService({ config: CONFIG });
  try {
    const texts = embeddingTexts(LINES);
    const lines = texts.map((input, at) =>
      JSON.stringify({ custom_id: `${at}`, body: { model: MODEL, input } }),
    );
    await embedAll(service, texts.slice(0, WARM_LINES));
    await runBatch(service, lines.slice(0, WARM_LINES), '/v1/embeddings');
    const rounds: Record<'ours' | 'peer', number[]> = { ours: [], peer: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.peer.push(await embedAll(service, texts));
      rounds.ours.push(await runBatch(service, lines, '/v1/embeddings'));
    }
    await report(
      'batch-embeddings',
      'A batch of embeddings compared with requests of many inputs',
      [
        {
          measure: `${LINES} lines on ${MODEL}`,
          ours: median(rounds.ours),
          peer: median(rounds.peer),
          unit: 'ms',
          target: MAX_TIMES,
        },
      ],
      [
        `Medians of ${ROUNDS} alternating rounds on the same process.`,
        `This service: a batch, from its creation to status completed. Baseline: POST /v1/embeddings with ${INPUTS} inputs each, ${CONCURRENT_REQUESTS} concurrently, at interactive priority. A ratio of 1.11 is 0.9 of the rate.`,
      ],
    );
  } finally {
    await service.stop();
  }
}

/** Embeds all texts with requests of {@link INPUTS} inputs. @returns the duration in ms. */
async function embedAll(service: Service, texts: readonly string[]): Promise<number> {
  const start = performance.now();
  let next = 0;
  const work = async () => {
    while (next < texts.length) {
      const input = texts.slice(next, next + INPUTS);
      next += INPUTS;
      const response = await service.fetch('/v1/embeddings', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_KEY}` },
        body: JSON.stringify({ model: MODEL, input }),
      });
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
  return performance.now() - start;
}
