import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { FakeScript, FakeSpec } from '../../../test/doubles/fake-inference-worker.ts';
import type { FromProcess, ToProcess } from '../workers/process-protocol.ts';
import type { FromWorker, LoadModels, ModelDescriptions, ToWorker } from './worker-protocol.ts';

type Sent = ToProcess<LoadModels<FakeSpec>, ToWorker>;
type Received = FromProcess<ModelDescriptions, FromWorker>;

const entry = fileURLToPath(new URL('../../../test/doubles/fake-inference-worker.ts', import.meta.url));

it.each(['throw-later', 'reject-later'] as const)(
  'exits on an uncaught error and does not print the text of the request (%s)',
  async (failure) => {
    const request: FakeScript = {
      mark: 1,
      steps: 1,
      samples: 1,
      at: 0,
      failure,
      secret: 'my private diary',
    };
    const replies: Record<string, Sent[]> = {
      up: [
        {
          kind: 'load',
          load: { runtime: { provider: 'cpu', threads: 1 }, models: { fake: {} }, lowPriority: false },
        },
      ],
      loaded: [{ kind: 'message', message: { kind: 'step', job: 1, open: { model: 'fake', request } } }],
    };
    const child = Bun.spawn({
      cmd: [process.execPath, entry],
      stdio: ['ignore', 'pipe', 'pipe'],
      serialization: 'advanced',
      ipc(message: Received, process) {
        for (const reply of replies[message.kind] ?? []) process.send(reply);
      },
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect(await child.exited).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toBe('Inference process exits: uncaught RangeError.\n');
  },
);
