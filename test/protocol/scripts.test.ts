import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { playScript, readScript } from '../support/script-player.ts';

/** Every script is one rule of the specification, or one row of its tables, as a conversation over a real socket. */
const folder = join(import.meta.dirname, 'scripts');

for (const file of readdirSync(folder).sort()) {
  const script = readScript(join(folder, file));
  describe(`${file}: ${script.title} (${script.spec})`, () => {
    test.each(script.dialects)('with the %s names', (dialect) => playScript(script, dialect));
  });
}
