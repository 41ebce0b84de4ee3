import { describe, expect, it } from 'vitest';
import { embedEngineCases, embedRequest } from '../../../../test/contract/embed-engine.cases.ts';
import { noMetrics, silentLog } from '../../../../tools/harness/doubles/doubles.ts';
import { openEngines } from '../../../../tools/harness/models/open-engines.ts';
import { loadConfig } from '../../../config/config.ts';
import type { InferencePool } from '../../../inference/pool/inference-pool.ts';
import { systemClock } from '../../../kit/clock.ts';
import { minilmEngine } from './engine.ts';

embedEngineCases('minilm', async () => {
  const { slots, close } = await openEngines({
    needs: new Set(['embed']),
    models: { embeddings: new Map([['it', { kind: 'minilm' }]]) },
    inference: { provider: 'cpu', workers: 1, threads: 2, queueLimit: 64, environment: {} },
    modelsDir: loadConfig(process.env).modelsDir,
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
  });
  const engine = slots.embed?.get('it');
  if (engine === undefined) throw new Error('the model is missing');
  return { engine, dimensions: 384, tokenized: { text: 'hello world', ids: [7592, 2088] }, close };
});

describe('validation', () => {
  const pool: InferencePool = {
    description: <Description>() => ({ dimensions: 4, maxTokens: 8, vocabularySize: 10 }) as Description,
    runJob: () => {
      throw new Error('nothing should run');
    },
    ready: () => ({ ready: true }),
    close: async () => undefined,
  };
  const engine = minilmEngine(pool, 'minilm', { workers: 1, queueLimit: 8, tokenIds: 'model' });
  const never = new AbortController().signal;

  it.each([
    [{ inputs: [[1, 10]] }, 'input', '0 to 9'],
    [{ inputs: ['a', [-1]] }, 'input.1', '0 to 9'],
    [{ inputs: ['a'], dimensions: 5 }, 'dimensions', '1 to 4'],
  ])(
    '%j is rejected with the name of the parameter, before it reaches the pool',
    async (fields, param, allowed) => {
      await expect(engine.embed(embedRequest(fields), never)).rejects.toMatchObject({
        kind: 'invalid_request',
        param,
        message: expect.stringContaining(allowed),
      });
    },
  );

  it('a closed engine rejects requests', async () => {
    await engine.close();
    await engine.close();
    await expect(engine.embed(embedRequest(), never)).rejects.toMatchObject({ kind: 'overloaded' });
  });
});
