/** Latency of all kinds of live requests while a batch runs, with real models. */

import { launchService } from '../../../tools/harness/services/launcher.ts';
import { BackgroundBatch } from '../../batch/background-batch.ts';
import { embeddingTexts } from '../../batch/embedding-texts.ts';
import {
  liveRows,
  openInteractiveRequests,
  type Times,
  timeLiveWork,
} from '../../batch/interactive-requests.ts';
import { report } from '../../report.ts';
import { mean } from '../../statistics.ts';

const ROUNDS = 3;
/** More lines than can be completed in a round. */
const EMBEDDING_LINES = 20_000;
const CHAT_LINES = 5_000;
const WARM_UP = 3;

const CONFIG = `
[models."svc-stt"]
kind = "whisper"
weights = "base"
`;

export async function benchBatchPriority(): Promise<void> {
  const opened = new AsyncDisposableStack();
  try {
    const service = opened.adopt(await launchService({ config: CONFIG }), async (it) => {
      await it.stop();
    });
    const live = opened.adopt(await openInteractiveRequests(service), (it) => it.close());
    const batches = {
      embeddings: await BackgroundBatch.open(service, '/v1/embeddings', embeddingLines()),
      chat: await BackgroundBatch.open(service, '/v1/chat/completions', chatLines()),
    };
    for (const { once } of live.kinds) for (let at = 0; at < WARM_UP; at += 1) await once();
    const runs = Object.entries(batches).map(([of, batch]) => ({
      of,
      batch,
      alone: new Map() as Times,
      times: new Map() as Times,
      rates: [] as number[],
    }));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { batch, alone, times, rates } of runs) {
        await timeLiveWork(live.kinds, alone);
        rates.push(await batch.during(() => timeLiveWork(live.kinds, times)));
      }
    }
    const rows = runs.flatMap(({ of, alone, times, rates }) => [
      { measure: `a batch of ${of} in this time`, ours: mean(rates), unit: 'lines/s' },
      ...live.kinds.flatMap(({ name }) =>
        liveRows(`${name}, with a batch of ${of}`, times.get(name), alone.get(name)),
      ),
    ]);
    await report('batch-priority', 'Live work while a batch runs', rows, [
      `This service: while a batch runs. Baseline: without a batch. ${ROUNDS} alternating rounds on the same process; one live request at a time.`,
    ]);
  } finally {
    await opened.disposeAsync();
  }
}

function embeddingLines(): string[] {
  return embeddingTexts(EMBEDDING_LINES).map((input, at) =>
    JSON.stringify({ custom_id: `${at}`, body: { model: 'all-minilm-l6-v2', input } }),
  );
}

function chatLines(): string[] {
  const messages = [{ role: 'user', content: 'Tell me a story about a lighthouse.' }];
  const body = { model: 'smollm2-135m-instruct', messages, max_tokens: 100 };
  return Array.from({ length: CHAT_LINES }, (_, at) => JSON.stringify({ custom_id: `${at}`, body }));
}
