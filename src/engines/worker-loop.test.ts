import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { FakeScript, FakeSpec } from '../../test/support/fake-inference-worker.ts';
import type { FromWorker, ToWorker } from './worker-protocol.ts';

const entry = fileURLToPath(new URL('../../test/support/fake-inference-worker.ts', import.meta.url));

it.each(['throw-later', 'reject-later'] as const)(
  'ends at a failure that nobody caught, and repeats nothing of the text (%s)',
  async (fault) => {
    const script: FakeScript & { secret: string } = {
      ...{ mark: 1, passes: 1, samples: 1, at: 0, fault },
      secret: 'my private diary',
    };
    const request = { text: JSON.stringify(script), speed: 1, delivery: 'stream' } as const;
    const messages: Record<string, ToWorker<FakeSpec>[]> = {
      up: [{ kind: 'load', runtime: { provider: 'cpu', threads: 1 }, models: { fake: {} } }],
      loaded: [
        { kind: 'open', job: 1, model: 'fake', request },
        { kind: 'next', job: 1 },
      ],
    };
    const child = Bun.spawn({
      cmd: [process.execPath, entry],
      stdio: ['ignore', 'pipe', 'pipe'],
      serialization: 'advanced',
      ipc(message: FromWorker, process) {
        for (const answer of messages[message.kind] ?? []) process.send(answer);
      },
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect(await child.exited).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toBe('Inference process ends: RangeError was not caught.\n');
  },
);
