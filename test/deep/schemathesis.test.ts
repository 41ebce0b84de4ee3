import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { HAS_PIP, pythonPackages } from '../../tools/harness/clients/python.ts';
import { SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import { launchStubbedService, type StubbedService } from '../../tools/harness/services/stubbed-service.ts';
import { needs } from '../harness/needs.ts';

/**
 * All checks of Schemathesis for every operation of the OpenAPI document, against the real process with all plugins.
 * Speech, transcription and text models are scripted upstreams, because thousands of requests to embedded models take
 * hours. `SCHEMATHESIS_EXAMPLES` sets the number of generated requests per operation.
 */

const CLIENT = join(import.meta.dirname, '../../tools/harness/clients/api-fuzz');
/** The same requests in each run. */
const SEED = 4711;
const EXAMPLES = process.env.SCHEMATHESIS_EXAMPLES ?? '15';
const TIMEOUT_MS = 1_800_000;

/** Many generated requests have invalid credentials. */
const CONFIG = `
[http]
invalid_keys_per_minute = 1000000
`;

let stubbed: StubbedService;
beforeAll(async () => {
  stubbed = await launchStubbedService(CONFIG);
});
afterAll(() => stubbed?.close());
beforeEach((context) => needs(context, HAS_PIP, 'Python with pip'));

test(
  'every response conforms to the OpenAPI document',
  async () => {
    const { exitCode, output } = await runSchemathesis(`${stubbed.service.baseUrl}/swagger/json`);
    const [, selected, tested] = /Selected: (\d+)\/\d+\s+Tested: (\d+)/.exec(output) ?? [];
    const [, requests] = /(\d+) generated/.exec(output) ?? [];
    console.log(`schemathesis: ${tested} operations, ${requests} requests`);
    expect(exitCode, output).toBe(0);
    expect((await stubbed.service.fetch('/healthz')).status).toBe(200);
    expect(stubbed.service.log().filter(({ level }) => level === 'error')).toEqual([]);
    expect(tested).toBe(selected);
    expect(Number(tested)).toBeGreaterThanOrEqual(50);
    expect(Number(requests)).toBeGreaterThan(3000);
  },
  TIMEOUT_MS,
);

async function runSchemathesis(url: string): Promise<{ exitCode: number; output: string }> {
  const packages = await pythonPackages(join(CLIENT, 'requirements.txt'));
  const command = [
    ...['python3', '-m', 'schemathesis.cli', '--config-file', join(CLIENT, 'schemathesis.toml'), 'run', url],
    ...['--checks', 'all', '--phases', 'examples,coverage,fuzzing,stateful'],
    ...['--max-examples', EXAMPLES, '--seed', String(SEED), '--no-color'],
  ];
  const child = Bun.spawn(command, {
    // Schemathesis creates folders in its working directory.
    cwd: stubbed.service.dataDir,
    env: { ...process.env, PYTHONPATH: `${CLIENT}:${packages}`, SERVICE_KEY },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, output: output + errors };
}
