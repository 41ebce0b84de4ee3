/** Runs of a batch that are interrupted at any step of any store, until one run succeeds. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { seededRandom } from '../../../src/kit/math/seeded-random.ts';
import { withMethods } from '../../../test/doubles/with-methods.ts';
import {
  batchWork,
  type CallOperation,
  CHAT_PRICE,
  echo,
  inputLine,
} from '../../../test/harness/batch-work.ts';
import { repetitions } from '../../../test/harness/tier.ts';

const LINES = 60;
const never = new AbortController().signal;

/** Rejects some calls of some methods, before or after they take effect. */
function unsteady<Target extends object>(
  target: Target,
  names: readonly (keyof Target & string)[],
  random: () => number,
  share: () => number,
): Target {
  const methods = names.map((name) => {
    const own = (target[name] as (...args: unknown[]) => Promise<unknown>).bind(target);
    const method = async (...args: unknown[]) => {
      const lot = random();
      if (lot < share() / 2) throw new Error('interrupted before');
      const result = await own(...args);
      if (lot < share()) throw new Error('interrupted after');
      return result;
    };
    return [name, method] as const;
  });
  return withMethods(target, Object.fromEntries(methods) as Partial<Target>);
}

it('every line is in exactly one file and billed once, wherever runs are interrupted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), async (seed) => {
      const random = seededRandom(seed);
      const work = await batchWork({ prices: [CHAT_PRICE] });
      await work.accounts.credits.grant('a', 100_000, 0);
      let share = 0.3;
      const batches = unsteady(
        work.batches,
        ['claim', 'refresh', 'startProcessing', 'checkpoint', 'finalize', 'listParts', 'finish'],
        random,
        () => share,
      );
      // Half of the runs use a store whose blobs are not local files.
      const store = random() < 0.5 ? work.blobs : withMethods(work.blobs, { openFile: undefined });
      const blobs = unsteady(store, ['read', 'write', 'delete', 'deleteAll'], random, () => share);
      let calls = 0;
      const stops = new Set<AbortController>();
      const call: CallOperation = async (body, order, signal) => {
        calls += 1;
        if (random() < 0.02) for (const stop of stops) stop.abort(new Error('drain'));
        if (random() < 0.5) await new Promise((resolve) => setTimeout(resolve, random() * 4));
        if (random() < 0.05) throw new ServiceError('upstream', 'not now');
        if ((body as { bad?: boolean }).bad) throw new ServiceError('invalid_request', 'bad');
        signal.throwIfAborted();
        return await echo(body, order, signal);
      };
      const input = Array.from({ length: LINES }, (_, index) =>
        inputLine(`${index}`, { bad: index % 7 === 3 }),
      );
      const batch = await work.create(input.join('\n'));
      const times = { pollIntervalMs: 3, drainMs: 2, timeSliceMs: 30_000 };
      for (let runs = 0; ; runs += 1) {
        if (runs === 30) share = 0;
        const stop = new AbortController();
        stops.add(stop);
        const job = work.job(call, { batches, blobs, maxConcurrentLines: 8, times });
        const one = job.runJob(batch.id, stop.signal).catch(() => undefined);
        // Sometimes another node claims the batch before this run has finished.
        const outcome = random() < 0.2 ? await work.job(call, { times }).runJob(batch.id, never) : await one;
        await one;
        stops.delete(stop);
        if (outcome?.kind === 'done') break;
      }
      const { output, error } = await work.results(batch);
      const expected = Array.from({ length: LINES }, (_, index) => `${index}`);
      const bad = expected.filter((_, index) => index % 7 === 3);
      expect(error.map((line) => line.custom_id).sort()).toEqual(bad.sort());
      expect(output.map((line) => line.custom_id).sort()).toEqual(
        expected.filter((id) => !bad.includes(id)).sort(),
      );
      const completed = LINES - bad.length;
      expect(await work.get(batch)).toMatchObject({
        status: 'completed',
        counts: { total: LINES, completed, failed: bad.length },
        tokens: { input: 2 * completed, output: 3 * completed },
      });
      const rows = await work.accounts.rows();
      const requests = output.map((line) => line.response?.request_id);
      expect(rows.map((row) => row.requestId).sort()).toEqual(requests.sort());
      expect(await work.accounts.credits.balance('a')).toEqual({
        available: 100_000 - 5 * completed,
        reserved: 0,
        revenue: 5 * completed,
        granted: -100_000,
      });
      expect(calls).toBeGreaterThanOrEqual(LINES);
    }),
    { numRuns: repetitions(4, 12), endOnFailure: true },
  );
});
