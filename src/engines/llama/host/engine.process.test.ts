import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FakeLlamaOrder } from '../../../../test/doubles/fake-llama-worker.ts';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { silentLog } from '../../../../tools/harness/doubles/doubles.ts';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
import { textRequest, wholeAnswer } from '../../../../tools/harness/models/text-responses.ts';
import type { ChatMessage, TextEngine, TextEvent, TextRequest } from '../../../contract/engines/text.ts';
import { AudioLoad } from '../../../inference/audio-load.ts';
import { SupervisedProcess } from '../../../inference/workers/supervised-process.ts';
import { isRunning } from '../../../kit/process/host-id.ts';
import { type LlamaOptions, openLlama } from './engine.ts';

const entry = fileURLToPath(new URL('../../../../test/doubles/fake-llama-worker.ts', import.meta.url));
const never = new AbortController().signal;
/** A stall of a busy machine does not exceed it, so that only a worker that hangs is killed. */
const TOKEN_TIMEOUT_MS = 3000;

/** An engine with a fake worker, which is controlled by the last message. */
async function openFake({
  slots = 1,
  queueLimit = 10,
  file = 'model.gguf',
  provider = 'cpu',
  ...options
}: {
  slots?: number;
  queueLimit?: number;
  file?: string;
  provider?: 'cpu' | 'cuda';
} & Partial<LlamaOptions> = {}): Promise<TextEngine> {
  const weights = join(await tempDir(), file);
  await writeFile(weights, '');
  const engine = await openLlama({
    settings: { kind: 'llama', weights, slots, contextTokens: 100, defaultMaxTokens: 100 },
    inference: { provider, workers: 1, threads: 1, queueLimit, environment: {} },
    modelsDir: '/none',
    log: silentLog,
    entry,
    ...options,
  });
  onTestFinished(() => engine.close());
  return engine;
}

const orderMessage = (order: FakeLlamaOrder): ChatMessage => ({
  role: 'user',
  parts: [{ kind: 'text', text: JSON.stringify(order) }],
});

function ordered(order: FakeLlamaOrder, fields: Partial<TextRequest> = {}): TextRequest {
  return textRequest({ messages: [orderMessage(order)], ...fields });
}

const all = (engine: TextEngine, order: FakeLlamaOrder, fields?: Partial<TextRequest>) =>
  Array.fromAsync(engine.generate(ordered(order, fields), never)).then(wholeAnswer);

/** Requests whose responses start with their name and then wait until they are released. */
function scene(engine: TextEngine) {
  const started: string[] = [];
  const leaving = new Map<string, AbortController>();
  const onFinished = new Map<string, Promise<unknown>>();
  return {
    started,
    /** The first letter of the name is the fairness key. */
    ask(name: string, fields: Partial<TextRequest> = {}) {
      const controller = new AbortController();
      leaving.set(name, controller);
      const request = ordered({ say: [name], after: 'hang' }, { fairnessKey: name[0] ?? '', ...fields });
      const run = async () => {
        for await (const event of engine.generate(request, controller.signal)) {
          if (event.kind === 'text') started.push(event.text);
        }
      };
      onFinished.set(
        name,
        run().catch((error: unknown) => error),
      );
    },
    async leave(name: string) {
      leaving.get(name)?.abort(new Error('left'));
      await onFinished.get(name);
    },
    /** Resolves when all prompts are converted and the requests wait for a slot or have one. */
    waits: () => expect(all(engine, { tokens: 100 })).rejects.toMatchObject({ kind: 'invalid_request' }),
    has: (...names: string[]) => expect.poll(() => started).toEqual(names),
    error: (name: string) => onFinished.get(name),
  };
}

it('reports that it runs on the CPU because the GPUs cannot run it', async () => {
  const log = new RecordingLogger();
  const engine = await openFake({ file: 'old-driver.gguf', provider: 'cuda', log });
  expect(engine.ready()).toEqual({ ready: true, detail: 'llama, cpu' });
  expect(log.lines).toMatchObject([
    {
      message: 'the language model runs on the CPU instead of CUDA',
      fields: { reason: 'The driver is too old.' },
    },
  ]);
  const [{ text: live }, { text: batch }] = await Promise.all([
    all(engine, { say: ['who'] }),
    all(engine, { say: ['who'] }, { priority: 'batch' }),
  ]);
  expect([live, batch]).toEqual([expect.stringMatching(/ false$/), expect.stringMatching(/ true$/)]);
});

describe('audio inference', () => {
  it('is reported to the worker, also to one that starts later', async () => {
    const audioLoad = new AudioLoad();
    audioLoad.set('urgent');
    const engine = await openFake({ audioLoad });
    audioLoad.set('some');
    audioLoad.set('some');
    audioLoad.set('none');
    const { text } = await all(engine, { say: ['received'] });
    expect(text).toBe('urgent some none');
  });

  it('pauses the worker while it is urgent', async () => {
    const signals: string[] = [];
    for (const signal of ['pause', 'resume'] as const) {
      const spy = vi.spyOn(SupervisedProcess.prototype, signal).mockImplementation(() => {
        signals.push(signal);
      });
      onTestFinished(() => spy.mockRestore());
    }
    const audioLoad = new AudioLoad();
    await openFake({ audioLoad });
    audioLoad.set('some');
    expect(signals).toEqual([]);
    audioLoad.set('urgent');
    expect(signals).toEqual(['pause']);
    audioLoad.set('some');
    expect(signals).toEqual(['pause', 'resume']);
  });
});

describe('slots', () => {
  it('are assigned to keys in turn', async () => {
    const { ask, leave, has, waits } = scene(await openFake());
    ask('a1');
    await has('a1');
    for (const name of ['a2', 'a3', 'b1', 'c1']) ask(name);
    await waits();
    await leave('a1');
    await has('a1', 'a2');
    await leave('a2');
    await has('a1', 'a2', 'b1');
    await leave('b1');
    await has('a1', 'a2', 'b1', 'c1');
    await leave('c1');
    await has('a1', 'a2', 'b1', 'c1', 'a3');
  });

  it('are not all assigned to one key', async () => {
    const { ask, has } = scene(await openFake({ slots: 3 }));
    for (const name of ['a1', 'a2', 'a3', 'b1']) ask(name);
    await has('a1', 'a2', 'b1');
  });

  it('are assigned by priority: realtime, interactive, batch (on a GPU)', async () => {
    const { ask, leave, has, waits } = scene(await openFake({ provider: 'cuda' }));
    ask('a1');
    await has('a1');
    ask('b1', { priority: 'batch' });
    ask('c1', { priority: 'interactive' });
    ask('d1', { priority: 'realtime' });
    await waits();
    await leave('a1');
    await has('a1', 'd1');
    await leave('d1');
    await has('a1', 'd1', 'c1');
    await leave('c1');
    await has('a1', 'd1', 'c1', 'b1');
  });

  it('are released before a slow consumer has read the response', async () => {
    const engine = await openFake();
    const slow = engine.generate(ordered({ say: ['a', 'b'] }), never)[Symbol.asyncIterator]();
    expect((await slow.next()).value).toEqual({ kind: 'text', text: 'a' });
    expect((await all(engine, { say: ['c'] })).text).toBe('c');
    expect((await slow.next()).value).toEqual({ kind: 'text', text: 'b' });
    await slow.return?.();
  });

  it('one key may use half of the queue of a priority', async () => {
    const engine = await openFake({ slots: 1, queueLimit: 3 });
    const { ask, has } = scene(engine);
    for (const name of ['a1', 'a2']) ask(name);
    await has('a1');
    const more = (owner: string, fields?: Partial<TextRequest>) =>
      all(engine, { tokens: 100 }, { fairnessKey: owner, ...fields });
    await expect(more('a')).rejects.toMatchObject({ kind: 'rate_limited', retryAfterS: 2 });
    // Exceeds the context, but is admitted to the queue.
    const taken = [more('b'), more('a', { priority: 'realtime' })];
    await Promise.all(
      taken.map((each) => expect(each).rejects.toMatchObject({ code: 'context_length_exceeded' })),
    );
  });

  it('requests beyond the queue limit are rejected', async () => {
    const engine = await openFake({ slots: 1, queueLimit: 2 });
    const { ask, leave, has } = scene(engine);
    for (const name of ['a1', 'b1', 'c1']) ask(name);
    await has('a1');
    await expect(all(engine, { say: ['no'] })).rejects.toMatchObject({ kind: 'overloaded', retryAfterS: 2 });
    await leave('b1');
    ask('d1');
    await leave('a1');
    await has('a1', 'c1');
  });
});

describe('batches', () => {
  const who = async (engine: TextEngine, priority: TextRequest['priority']) => {
    const { text } = await all(engine, { say: ['who'] }, { priority });
    const [pid, lowPriority] = text.split(' ');
    return { pid: Number(pid), lowPriority: lowPriority === 'true' };
  };

  it('run in a separate low-priority worker, which stops when it is idle', async () => {
    const engine = await openFake({ batchIdleMs: 100 });
    const live = await who(engine, 'interactive');
    const batch = await who(engine, 'batch');
    expect([live.lowPriority, batch.lowPriority]).toEqual([false, true]);
    expect(await who(engine, 'realtime')).toEqual(live);
    await expect.poll(() => isRunning(batch.pid)).toBe(false);
    const next = await who(engine, 'batch');
    expect(next.pid).not.toBe(batch.pid);
    await engine.close();
    expect([isRunning(live.pid), isRunning(next.pid)]).toEqual([false, false]);
    await expect(who(engine, 'batch')).rejects.toMatchObject({ kind: 'overloaded' });
  });

  it('keep the worker running while a batch request is pending', async () => {
    const engine = await openFake({ slots: 2, batchIdleMs: 1 });
    const { ask, has, leave, started } = scene(engine);
    ask('who', { priority: 'batch' });
    await expect.poll(() => started.length).toBe(1);
    const [pid = ''] = started;
    expect(`${(await who(engine, 'batch')).pid} true`).toBe(pid);
    await Bun.sleep(5);
    expect(`${(await who(engine, 'batch')).pid} true`).toBe(pid);
    await has(pid);
    await leave('who');
  });

  it('do not affect other requests when their worker crashes', async () => {
    const engine = await openFake();
    const { ask, has } = scene(engine);
    ask('a1');
    await has('a1');
    const dying = all(engine, { after: 'die' }, { priority: 'batch', fairnessKey: 'b' });
    await expect(dying).rejects.toMatchObject({ code: 'worker_crashed' });
    expect((await who(engine, 'batch')).lowPriority).toBe(true);
    await has('a1');
  });
});

describe('a failing worker', () => {
  const crashed = { kind: 'internal', code: 'worker_crashed' };

  it('fails its responses; waiting and new requests use the next worker', async () => {
    const engine = await openFake({ slots: 2 });
    const { ask, has, error } = scene(engine);
    ask('a1');
    await has('a1');
    const waiting = all(engine, { say: ['later'] }, { fairnessKey: 'a' });
    await expect(all(engine, { say: ['dying'], after: 'die' }, { fairnessKey: 'b' })).rejects.toMatchObject(
      crashed,
    );
    expect(await error('a1')).toMatchObject(crashed);
    expect((await waiting).text).toBe('later');
    expect((await all(engine, { say: ['again'] })).text).toBe('again');
  });

  it('fails a request during prompt processing', async () => {
    const engine = await openFake();
    await expect(all(engine, { tokenize: 'die' })).rejects.toMatchObject(crashed);
    expect((await all(engine, { say: ['again'] })).text).toBe('again');
  });

  it('is replaced when it makes no progress, but not when it is idle', async () => {
    const stopped = vi.spyOn(SupervisedProcess.prototype, 'stopWatchdog');
    onTestFinished(() => stopped.mockRestore());
    const engine = await openFake({ tokenTimeoutMs: TOKEN_TIMEOUT_MS });
    const { ask, leave, has } = scene(engine);
    ask('a1');
    await has('a1');
    stopped.mockClear();
    await leave('a1');
    await expect.poll(() => stopped.mock.calls.length).toBe(1);
    expect(engine.ready().ready).toBe(true);
    await expect(all(engine, { tokenize: 'hang' })).rejects.toMatchObject(crashed);
  });

  it('gets time for prompt processing', async () => {
    const started = vi.spyOn(SupervisedProcess.prototype, 'startWatchdog');
    onTestFinished(() => started.mockRestore());
    const engine = await openFake({ tokenTimeoutMs: 100_000 });
    const { ask, leave } = scene(engine);
    // Ten times 1 ms for each token of the prompt and for one sampled token.
    for (const [tokens, extraMs] of [[90, 910] as const, [5, 60] as const]) {
      ask('a1', { messages: [orderMessage({ tokens, after: 'hang' })] });
      await expect.poll(() => Math.ceil((started.mock.lastCall?.[0] ?? 0) / 10) * 10).toBe(100_000 + extraMs);
      await leave('a1');
    }
  });

  it('is replaced when it generates nothing, even if it still converts prompts', async () => {
    const engine = await openFake({ slots: 2, tokenTimeoutMs: TOKEN_TIMEOUT_MS });
    const { ask, has, error, waits } = scene(engine);
    ask('a1');
    await has('a1');
    let onFinished = false;
    const lost = error('a1')?.then((reason) => {
      onFinished = true;
      return reason;
    });
    while (!onFinished) await waits().catch(() => undefined);
    expect(await lost).toMatchObject(crashed);
  });

  it('is replaced when it hangs in a cancelled request', async () => {
    const log = new RecordingLogger();
    const engine = await openFake({ tokenTimeoutMs: TOKEN_TIMEOUT_MS, log });
    const { ask, leave, has, error, started } = scene(engine);
    ask('who', { messages: [orderMessage({ say: ['who'], after: 'stuck' })] });
    await expect.poll(() => started.length).toBe(1);
    await leave('who');
    expect(await error('who')).toMatchObject({ message: 'left' });
    const [pid = 0] = started.map((text) => Number(text.split(' ')[0]));
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(log.lines.map(({ message }) => message)).toContain(
      'language model process watchdog timeout, killing process',
    );
    ask('b1');
    await has(started[0] ?? '', 'b1');
  });

  it('is replaced even if new requests arrive while it hangs', async () => {
    const engine = await openFake({ slots: 2, tokenTimeoutMs: TOKEN_TIMEOUT_MS });
    const { ask, has, leave, error } = scene(engine);
    ask('a1', { messages: [orderMessage({ say: ['a1'], after: 'stuck' })] });
    await has('a1');
    let onFinished = false;
    const lost = error('a1')?.then((reason) => {
      onFinished = true;
      return reason;
    });
    for (let each = 1; !onFinished; each += 1) {
      ask(`b${each}`);
      await Promise.race([Bun.sleep(5), lost]);
      await leave(`b${each}`);
    }
    expect(await lost).toMatchObject(crashed);
  });

  it('may fail a single response', async () => {
    const engine = await openFake();
    await expect(all(engine, { say: ['a'], after: 'fail' })).rejects.toMatchObject({
      kind: 'internal',
      code: 'server_error',
    });
    expect(engine.ready()).toEqual({ ready: true, detail: 'llama, cpu' });
  });

  it('reports the reason of a failed start', async () => {
    await expect(openFake({ file: 'broken.gguf' })).rejects.toThrow(
      /broken\.gguf could not be loaded: it is broken\.$/,
    );
    await expect(openFake({ file: 'crashing.gguf' })).rejects.toThrow(
      /crashing\.gguf could not be loaded: .* \(exit code 7\)\. The file may be damaged or require a newer version/,
    );
  });

  it('a missing file aborts the start', async () => {
    const settings = {
      kind: 'llama',
      weights: '/none.gguf',
      slots: 1,
      contextTokens: 100,
      defaultMaxTokens: 100,
    } as const;
    await expect(openFake({ settings })).rejects.toThrow('CONFIG: GGUF file not found: /none.gguf.');
    await expect(openFake({ settings: { ...settings, weights: 'other' } })).rejects.toThrow(
      "unknown weights 'other'",
    );
    await expect(openFake({ settings: { ...settings, weights: 'smollm2-135m-instruct' } })).rejects.toThrow(
      /is missing .* `bun run models fetch smollm2-135m-instruct`/,
    );
  });
});

describe('a response', () => {
  it('is rejected before it gets a slot if the conversation is too long', async () => {
    const engine = await openFake();
    const { ask, has } = scene(engine);
    ask('a1');
    await has('a1');
    await expect(all(engine, { tokens: 100 })).rejects.toMatchObject({
      kind: 'invalid_request',
      code: 'context_length_exceeded',
      param: 'messages',
      message:
        "This model's maximum context length is 100 tokens, including the response. However, your messages resulted in 100 tokens. Please reduce the length of the messages.",
    });
  });

  it('is limited by the remaining context', async () => {
    const say = ['a', 'b', 'c', 'd'];
    const engine = await openFake();
    const { end } = await all(engine, { say, tokens: 98, after: 'cut' }, { maxTokens: undefined });
    expect(end).toEqual({
      kind: 'end',
      reason: 'length',
      tokens: { input: 98, output: 2, cached: 0, reasoning: 0 },
    });
  });

  it('is rejected if the chat template does not support the conversation', async () => {
    const engine = await openFake();
    for (const order of [{ tokenize: 'refuse' }, { after: 'refuse' }] as const) {
      const failure =
        'tokenize' in order ? { kind: 'invalid_request', param: 'messages' } : { kind: 'internal' };
      await expect(all(engine, order)).rejects.toMatchObject(failure);
    }
  });

  it('buffers a possible stop sequence and releases it otherwise', async () => {
    const engine = await openFake();
    const events = async (say: string[], stop: string[]) => {
      const run = engine.generate(ordered({ say }, { stop }), never);
      return (await Array.fromAsync(run)).flatMap((event: TextEvent) => ('text' in event ? event.text : []));
    };
    expect(await events(['a E', 'N', 'D b'], ['END'])).toEqual(['a ']);
    expect(await events(['a E', 'N', 'T b'], ['END'])).toEqual(['a ', 'ENT b']);
    expect(await events(['a E', 'N'], ['END'])).toEqual(['a ', 'EN']);
  });

  it('ends at a stop sequence if it may contain calls', async () => {
    const tools = [{ name: 'f', strict: false }];
    const fields: Partial<TextRequest> = { tools, stop: ['STOP'] };
    const engine = await openFake();
    const request = ordered({ say: ['so ', 'STOP', ' more'], after: 'hang' }, fields);
    const { text, end } = wholeAnswer(await Array.fromAsync(engine.generate(request, never)));
    expect([text, end.reason, end.tokens.output]).toEqual(['so ', 'stop', 2]);
  });

  it('may be tool calls, split at any position', async () => {
    const call = (name: string, args: string) =>
      `<tool_call>{"name":"${name}","arguments":${args}}</tool_call>`;
    const text = `${call('f', '{"a":"}\\\\\\"{","b":[{}]}')}\n${call('g', '{}')}`;
    const engine = await openFake();
    const tools = ['f', 'g'].map((name) => ({ name, strict: false }));
    for (const size of [1, 3, 7, 1000]) {
      const say = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      for (const toolChoice of ['auto', 'required'] as const) {
        const { calls, end } = await all(engine, { say }, { tools, toolChoice, maxTokens: 90 });
        expect(calls.map((each) => [each.name, each.arguments])).toEqual([
          ['f', '{"a":"}\\\\\\"{","b":[{}]}'],
          ['g', '{}'],
        ]);
        expect(end.reason).toBe('tool_calls');
      }
    }
    const cut = await all(engine, { say: [text.slice(0, 60)], after: 'cut' }, { tools });
    expect([cut.calls.length, cut.end.reason]).toEqual([1, 'length']);
  });
});

it('logs nothing when it is closed while the batch worker starts', async () => {
  const log = new RecordingLogger();
  const engine = await openFake({ log });
  const asked = expect(all(engine, {}, { priority: 'batch' })).rejects.toMatchObject({ kind: 'overloaded' });
  await engine.close();
  await asked;
  expect(log.lines).toEqual([]);
});

it('fails pending and new requests when it is closed', async () => {
  const engine = await openFake();
  const { ask, has, error } = scene(engine);
  for (const name of ['a1', 'b1']) ask(name);
  await has('a1');
  await Promise.all([engine.close(), engine.close()]);
  for (const name of ['a1', 'b1']) expect(await error(name)).toMatchObject({ kind: 'overloaded' });
  await expect(all(engine, {})).rejects.toMatchObject({ kind: 'overloaded' });
  expect(engine.ready().ready).toBe(false);
});

describe('a long prompt', () => {
  const tooLong = { kind: 'invalid_request', param: 'messages', code: 'context_length_exceeded' };
  const ofText = (text: string) =>
    textRequest({ messages: [{ role: 'user', parts: [{ kind: 'text', text }] }], fairnessKey: 'b' });

  it('that cannot fit is rejected although the worker is busy', async () => {
    const engine = await openFake({ slots: 2 });
    const { ask, leave, has } = scene(engine);
    ask('a1', { messages: [orderMessage({ tokenize: 'hang' })] });
    // The fake worker has 100 tokens of at most 1000 bytes.
    for (const text of ['x'.repeat(100_000), `x${' '.repeat(100_000)}x`]) {
      const answer = Array.fromAsync(engine.generate(ofText(text), never));
      await expect(answer).rejects.toMatchObject(tooLong);
    }
    await leave('a1');
    ask('b1');
    await has('b1');
  });

  it('does not count white space that a template may remove', async () => {
    const engine = await openFake();
    const order = JSON.stringify({ say: ['a'] } satisfies FakeLlamaOrder);
    const answer = Array.fromAsync(engine.generate(ofText(order + ' '.repeat(200_000)), never));
    expect(wholeAnswer(await answer).text).toBe('a');
  });

  it('keeps its turn until the worker has converted it, although the client has left', async () => {
    const audioLoad = new AudioLoad();
    const engine = await openFake({ slots: 2, audioLoad });
    const { ask, leave, has } = scene(engine);
    ask('a1', { messages: [orderMessage({ tokenize: 'slow' })] });
    await leave('a1');
    ask('b1');
    // A conversion that started too early is sent before the load.
    await nextTick();
    audioLoad.set('urgent');
    await has('b1');
    expect((await all(engine, { say: ['received'] })).text).toBe('urgent');
  });

  it('is converted in turn with the prompts of other keys', async () => {
    const { ask, has } = scene(await openFake({ slots: 8 }));
    for (const name of ['a1', 'a2', 'a3', 'b1']) ask(name);
    await has('a1', 'a2', 'b1', 'a3');
  });
});
