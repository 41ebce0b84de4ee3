import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { playScript, readScript, type Script } from '../harness/script-player.ts';

/** Every script is one rule of the specification, or one row of its tables, as a conversation over a real socket. */
const folder = join(import.meta.dirname, 'scripts');

for (const file of readdirSync(folder).sort()) {
  const script = readScript(join(folder, file));
  describe(`${file}: ${script.title} (${script.spec})`, () => {
    test.each(script.dialects)('with the %s names', (dialect) => playScript(script, dialect));
  });
}

describe('a script that differs from what happens fails', () => {
  const script = (lines: Script['lines']): Script => ({
    ...{ title: 'wrong', spec: 'none', dialects: ['spec'], query: '', unasked: false },
    lines: [{ '<': { type: 'session.created' } }, ...lines],
  });
  const clear = { '>': { type: 'input_audio_buffer.clear' } };

  test.each<[string, Script['lines'], string]>([
    ['another event', [clear, { '<': { type: 'error' } }], 'line 4: expected {"type":"error"}, came {'],
    ['another field', [clear, { '<': { type: 'input_audio_buffer.cleared', event_id: '~evt' } }], 'line 4: '],
    ['an event too many', [clear], 'the end: nothing more'],
    ['an event before its time', [clear, { '=': 'quiet' }], 'line 4: nothing more'],
  ])('%s', async (_, lines, message) => {
    await expect(playScript(script(lines), 'spec')).rejects.toThrow(message);
  });
});
