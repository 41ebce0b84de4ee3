import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { playScript, readScript, type Script } from '../harness/script-player.ts';

/** Each script tests a rule or table row of the specification with a conversation over a real WebSocket. */
const folder = join(import.meta.dirname, 'scripts');

for (const file of readdirSync(folder).sort()) {
  const script = readScript(join(folder, file));
  describe(`${file}: ${script.title} (${script.spec})`, () => {
    test.each(script.dialects)('in the %s dialect', (dialect) => playScript(script, dialect));
  });
}

describe('a script fails on', () => {
  const script = (lines: Script['lines']): Script => ({
    title: 'wrong',
    spec: 'none',
    dialects: ['spec'],
    query: '',
    withoutDialect: false,
    stt: ['svc-stt'],
    lines: [{ '<': { type: 'session.created' } }, ...lines],
  });
  const clear = { '>': { type: 'input_audio_buffer.clear' } };

  test.each<[string, Script['lines'], string]>([
    ['another event', [clear, { '<': { type: 'error' } }], 'line 4: expected {"type":"error"}, received {'],
    ['another field', [clear, { '<': { type: 'input_audio_buffer.cleared', event_id: '~evt' } }], 'line 4: '],
    ['an unexpected event', [clear], 'the end: nothing more'],
    ['an event after a quiet line', [clear, { '=': 'quiet' }], 'line 4: nothing more'],
  ])('%s', async (_, lines, message) => {
    await expect(playScript(script(lines), 'spec')).rejects.toThrow(message);
  });
});
