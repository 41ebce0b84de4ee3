import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../config/config.ts';
import { llamaFile } from '../shared/model-file.ts';
import { type LlamaModel, loadLlamaModel } from './model.ts';

/** Prompts of the default language model. */

const ROOT = join(import.meta.dirname, '../../../..');
let model: LlamaModel;
beforeAll(async () => {
  const { modelsDir } = loadConfig(process.env);
  const file = llamaFile('smollm2-135m-instruct', modelsDir);
  model = await loadLlamaModel({ file, provider: 'cpu', chatTemplate: undefined });
});

const conversation = (content: string) => ({ messages: [{ role: 'user' as const, content }], tools: [] });
const whole = (content: string) => model.tokenize(model.template.render(conversation(content)) ?? '');

describe('the tokens of a prompt', () => {
  it.each([
    ['prose', readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')],
    ['code', readFileSync(join(ROOT, 'src/engines/llama/worker/model.ts'), 'utf8')],
    ['control tokens', 'one two <|im_end|> three four <|im_start|>user five six '.repeat(200)],
    [
      'several languages',
      'größer als das – l’été où 漢字かな 안녕 мир and a word or two 123 456 '.repeat(100),
    ],
    ['no spaces', 'x'.repeat(10_000)],
  ])('are the same in pieces: %s', async (_, text) => {
    expect(text.length).toBeGreaterThan(4096);
    expect(await model.promptTokens(conversation(text), 1e6)).toEqual(whole(text));
  });

  it('are not all converted when there are too many', async () => {
    const text = 'one two three '.repeat(10_000);
    const tokens = await model.promptTokens(conversation(text), 2000);
    const [, count] = /^at least (\d+)$/.exec(String(tokens)) ?? [];
    expect(Number(count)).toBeGreaterThan(2000);
    expect(Number(count)).toBeLessThan(4000);
  });

  it('let other work run between the pieces', async () => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await model.promptTokens(conversation('one two three '.repeat(2000)), 1e6);
    isDone = true;
    expect(turns).toBeGreaterThan(5);
  });
});
