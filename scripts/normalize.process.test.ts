import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FRONT_ENDS } from '../src/text/front-end.ts';

const TAGS = FRONT_ENDS.map(({ language }) => language).join(', ');
const SCRIPT = fileURLToPath(new URL('./normalize.ts', import.meta.url));

async function normalize(input: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, SCRIPT, ...args], {
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { out, err, exitCode: await child.exited };
}

test.each([
  [['--language', 'es'], 'Hay 3 casas.\n\n25 %\r\nfin', 'Hay tres casas.\n\nveinticinco por ciento\nfin\n'],
  [['--language=PT_br'], 'R$ 2\n', 'dois reais\n'],
  [['--language', 'hi'], '₹5', 'पाँच रुपये\n'],
  [['--language', 'ja'], '3本で500円', 'サンボンでゴヒャクエン\n'],
  [['--language', 'en-GB'], '$5 at 3 pm\n', 'five dollars at three PM\n'],
  [[], '2 cats\n', 'two cats\n'],
  [['--language', 'fr'], '', ''],
])('%j writes one spoken line for each line, and nothing else', async (args, input, expected) => {
  expect(await normalize(input, ...args)).toEqual({ out: expected, err: '', exitCode: 0 });
});

test.each([
  [['--language', 'tlh'], `The language 'tlh' is not supported. Supported: ${TAGS}.`],
  [['--language'], 'Usage: bun run normalize'],
  [['--lang', 'es'], 'Usage: bun run normalize'],
  [['es'], 'Usage: bun run normalize'],
])('%j is an error on standard error', async (args, message) => {
  const { out, err, exitCode } = await normalize('1\n', ...args);
  expect({ out, exitCode }).toEqual({ out: '', exitCode: 2 });
  expect(err).toContain(message);
});
