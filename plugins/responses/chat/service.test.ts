import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import { newId } from '../../../src/contract/core/id.ts';
import { OpenRequests } from '../../../src/kit/limits/open-requests.ts';
import {
  FAKE_TOKENS,
  FakeTextEngine,
  type FakeTextOptions,
  said,
} from '../../../test/doubles/fake-text-engine.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { parseChat } from './schema.ts';
import { ChatService } from './service.ts';

const never = new AbortController().signal;
/** Eight tokens by estimate. */
const QUESTION = 'How much is two and two, please?';

function setUp(options: FakeTextOptions = {}, billing: RecordedCallsOptions = {}) {
  const engine = new FakeTextEngine(options);
  const calls = new RecordedCalls(billing);
  const chat = new ChatService({
    text: { ids: ['m'], get: () => engine },
    open: new OpenRequests('text', 10),
    clock: new ManualClock(),
    log: new RecordingLogger(),
  });
  const context = {
    caller: { organization: 'org', keyId: 'key', requestId: newId('req_') },
    priority: 'interactive',
    calls,
  } as const;
  const params = (fields: object = {}) =>
    parseChat({ model: 'm', messages: [{ role: 'user', content: QUESTION }], ...fields });
  return {
    engine,
    calls,
    streamEvents: (fields: object = {}, signal = never) => chat.streamEvents(params(fields), context, signal),
    complete: (fields: object = {}, signal = never) => chat.complete(params(fields), context, signal),
  };
}

describe('the billed usage', () => {
  it('is the count of the engine', async () => {
    const { complete, calls } = setUp();
    await complete();
    const { input, output } = FAKE_TOKENS;
    expect(calls.rows).toMatchObject([{ status: 'completed', inputTokens: input, outputTokens: output }]);
  });

  it('is an estimate if the generation was interrupted', async () => {
    const { complete, calls } = setUp({
      answer: () => said('👋🏽👋🏽👋🏽👋🏽', 'x'),
      failure: () => new ServiceError('upstream', 'It broke.'),
    });
    await expect(complete()).rejects.toThrow('It broke.');
    expect(calls.rows).toMatchObject([{ status: 'failed', inputTokens: 8, outputTokens: 3 }]);
  });

  it('is an estimate if the client disconnected', async () => {
    const { streamEvents, calls } = setUp();
    const events = await streamEvents();
    await events.next();
    await events.return();
    expect(calls.rows).toMatchObject([{ status: 'cancelled', inputTokens: 8, outputTokens: 1 }]);
  });

  it('is zero if the engine failed before the first event', async () => {
    const { complete, calls } = setUp({ refusal: () => new ServiceError('upstream', 'It is unavailable.') });
    await expect(complete()).rejects.toThrow('It is unavailable.');
    expect(calls.rows).toMatchObject([{ status: 'failed', inputTokens: 0, outputTokens: 0 }]);
  });

  it('is zero if the caller aborted before the first event', async () => {
    const leaving = new AbortController();
    const { complete, calls } = setUp({ before: () => leaving.abort('gone') });
    await expect(complete({}, leaving.signal)).rejects.toBe('gone');
    expect(calls.rows).toMatchObject([{ status: 'cancelled', inputTokens: 0, outputTokens: 0 }]);
  });

  it('does not exceed the reservation, whatever the engine counts', async () => {
    const tokens = { input: 1_000_000, output: 1_000_000, cached: 0, reasoning: 0 };
    const { complete, calls } = setUp({ tokens }, { holds: true });
    await complete({ max_tokens: 50 });
    const [opening] = calls.openings;
    expect(calls.rows).toMatchObject([
      { inputTokens: opening?.maxUsage.inputTokens, outputTokens: opening?.maxUsage.outputTokens },
    ]);
    expect(opening?.maxUsage.outputTokens).toBe(50);
  });

  it('has no row if the engine rejected the request', async () => {
    const { complete, calls } = setUp({ refusal: () => new ServiceError('overloaded', 'Full.') });
    await expect(complete()).rejects.toThrow('Full.');
    expect([calls.rows, calls.unended]).toEqual([[], 0]);
  });
});

it('a completion with reserved credits does not exceed its reservation', async () => {
  const limits = async (fields: object, holds: boolean, contextTokens?: number) => {
    const { complete, engine, calls } = setUp({ contextTokens }, { holds });
    await complete(fields);
    return [engine.requests[0]?.maxTokens, calls.openings[0]?.maxUsage.outputTokens];
  };
  expect(await limits({}, true)).toEqual([4096, 4096]);
  // Without a limit, the context size applies; upstream servers reject a limit that exceeds it.
  expect(await limits({}, true, 100)).toEqual([undefined, 100]);
  expect(await limits({ max_tokens: 9000 }, true)).toEqual([9000, 9000]);
  expect(await limits({}, false)).toEqual([undefined, 4096]);
});
