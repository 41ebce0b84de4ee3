import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sharedAccounts, speechCall } from '../../tools/harness/doubles/usage-parts.ts';
import { createMetrics } from '../metrics/registry.ts';

let shared: ReturnType<typeof sharedAccounts>;
beforeEach(() => {
  shared = sharedAccounts();
});
afterEach(() => shared.close());

const DONE = { inputTokens: 3, outputTokens: 40, characters: 20 };

describe('the call of a job', () => {
  it('returns the credits to reserve, and accesses no store', async () => {
    const { jobs, self } = shared.process();
    expect(jobs.prepareCall(speechCall(50))).toEqual({ id: expect.stringMatching(/^usage_/), reserved: 52 });
    expect(jobs.prepareCall(speechCall(50, { model: 'free' })).reserved).toBe(0);
    expect(await shared.journal.listOpenCalls(self.id, 5)).toEqual([]);
  });

  it('becomes a row with the time of its close and its cost, in any process', () => {
    const opening = speechCall(50);
    const { id } = shared.process().jobs.prepareCall(opening);
    const { endpoint, model, caller } = opening;
    const { organization, requestId } = caller;
    const call = { id, endpoint, model, organization, requestId };
    shared.clock.advance(5000);
    const { jobs } = shared.process();
    expect(jobs.createBill(call, { status: 'completed', ...DONE })).toEqual({
      record: { ...call, status: 'completed', ...DONE, createdAt: 1_767_323_050 },
      cost: 22,
    });
    // A failed call has no fee.
    expect(jobs.createBill(call, { status: 'failed', inputTokens: 0, outputTokens: 0 })).toMatchObject({
      cost: 0,
    });
  });

  it('is counted as a row when it is stored', async () => {
    const metrics = createMetrics(shared.clock);
    const { jobs } = shared.process({ metrics });
    const opening = speechCall(50);
    const { endpoint, model, caller } = opening;
    const { organization, requestId } = caller;
    const call = { ...jobs.prepareCall(opening), endpoint, model, organization, requestId };
    const { record } = jobs.createBill(call, { status: 'completed', ...DONE });
    expect(await metrics.render()).not.toContain('usage_rows_total{');
    jobs.recordStored(record);
    expect(await metrics.render()).toContain(
      'usage_rows_total{endpoint="/v1/audio/speech",status="completed"} 1',
    );
    metrics.close();
  });
});
