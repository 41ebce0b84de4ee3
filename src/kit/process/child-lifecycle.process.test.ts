import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { processState } from '../../../tools/harness/services/process-state.ts';

const MODULE = JSON.stringify(fileURLToPath(new URL('./child-lifecycle.ts', import.meta.url)));
const CHILD = `import { killWithParent } from ${MODULE}; killWithParent(); process.send('up'); setInterval(() => undefined, 1000);`;
/** Stops its child with a signal, and prints the id of the child. */
const PARENT = `
  const child = Bun.spawn({
    cmd: [process.execPath, '-e', ${JSON.stringify(CHILD)}],
    stdio: ['ignore', 'ignore', 'inherit'],
    ipc() {
      child.kill('SIGSTOP');
      console.log(child.pid);
    },
  });
`;

test.runIf(process.platform === 'linux')('a stopped child does not outlive its parent', async () => {
  const parent = Bun.spawn({
    cmd: [process.execPath, '-e', PARENT],
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { value } = await parent.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  await expect.poll(() => processState(pid)).toBe('T');
  parent.kill('SIGKILL');
  await parent.exited;
  await expect.poll(() => processState(pid) ?? 'Z').toBe('Z');
});
