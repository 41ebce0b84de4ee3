import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfigAndPlugins } from './config.ts';
import { loadExtraPlugins } from './extra-plugins.ts';

const folder = mkdtempSync(join(tmpdir(), 'extra-plugins-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
/** Writes a plugin. @returns its path, relative to the folder. */
function plugin(definition: string): string {
  files += 1;
  writeFileSync(join(folder, `${files}.mjs`), `export default ${definition};`);
  return `./${files}.mjs`;
}

const load = (...names: readonly string[]) => loadExtraPlugins({ names, folder }, ['speech']);

describe('a plugin of another author', () => {
  test('is imported from a path or a package', async () => {
    mkdirSync(join(folder, 'node_modules/tea-plugin'), { recursive: true });
    writeFileSync(
      join(folder, 'node_modules/tea-plugin/package.json'),
      '{"name": "tea-plugin", "main": "tea.mjs", "type": "module"}',
    );
    writeFileSync(
      join(folder, 'node_modules/tea-plugin/tea.mjs'),
      "export default { name: 'tea', needs: [], setup: () => ({}) };",
    );
    const hello = plugin("{ name: 'hello', needs: ['clock'], setup: () => ({}) }");
    const loaded = await load(hello, 'tea-plugin');
    expect(loaded.map(({ name, needs }) => [name, needs])).toEqual([
      ['hello', ['clock']],
      ['tea', []],
    ]);
  });

  test('that is missing is named', async () => {
    await expect(load('./gone')).rejects.toThrow("Plugin './gone' of [plugins] extra cannot be imported: ");
    await expect(load('gone-package')).rejects.toThrow("Plugin 'gone-package' of [plugins] extra cannot be");
  });

  test.each([
    ['undefined', 'it is missing'],
    ["{ name: 'A b', needs: [], setup() {} }", "'name' must match ^[a-z][a-z0-9_-]{0,31}$"],
    ["{ name: 'speech', needs: [], setup() {} }", "'name' must not be 'speech', which is another plugin"],
    ["{ name: 'x', setup() {} }", "'needs' must be a list"],
    ["{ name: 'x', needs: [], tags: {}, setup() {} }", "'tags' must be a list"],
    ["{ name: 'x', needs: [], routes: 1, setup() {} }", "'routes' must be a list or a function"],
    ["{ name: 'x', needs: [] }", "'setup' must be a function"],
    [
      "{ name: 'x', needs: [], settings: [{ table: 'limits', settings: {} }], setup() {} }",
      "'settings' must be sections of the table 'x'",
    ],
  ])('%s is rejected: %s', async (definition, problem) => {
    const path = plugin(definition);
    await expect(load(path)).rejects.toThrow(
      `Plugin '${path}' of [plugins] extra: its default export must be the result of definePlugin(): ${problem}.`,
    );
  });

  test('must have another name than the others', async () => {
    const definition = "{ name: 'twice', needs: [], setup() {} }";
    await expect(load(plugin(definition), plugin(definition))).rejects.toThrow("'name' must not be 'twice'");
  });
});

describe('the tables of plugins of other authors', () => {
  const config = (toml: string) => {
    files += 1;
    const path = join(folder, `${files}.toml`);
    writeFileSync(path, toml);
    return loadConfigAndPlugins({ CONFIG: path });
  };
  const setting = `{
    key: 'times',
    schema: {
      type: 'integer', minimum: 1, maximum: 9,
      [Symbol.for('TypeBox.Kind')]: 'Integer', [Symbol.for('TypeBox.Optional')]: 'Optional',
    },
    formerly: 'count', isIgnored: false, doc: '', read: (written) => written ?? 2,
  }`;
  const hello = () =>
    plugin(
      `{ name: 'hello', needs: [], usage: ['POST /v1/hello'], setup: () => ({}), settings: [{ table: 'hello', settings: { times: ${setting} }, doc: '' }] }`,
    );

  test('are read with their settings', async () => {
    const read = await config(`[plugins]\nextra = ["${hello()}"]\n[plugin.hello]\ntimes = 3`);
    expect(read.extra.map(({ name }) => name)).toEqual(['hello']);
    expect(read.config).toMatchObject({ 'plugin.hello': { times: 3 } });
    const unset = await config(`[plugins]\nextra = ["${hello()}"]`);
    expect(unset.config).toMatchObject({ 'plugin.hello': { times: 2 } });
  });

  test('can have prices', async () => {
    const price = '[[prices]]\nendpoint = "POST /v1/hello"\nmodel = "svc-tts"\nrequest = 1\n';
    const { config: read } = await config(`${price}[plugins]\nextra = ["${hello()}"]`);
    expect(read.prices[0]).toMatchObject({ endpoint: 'POST /v1/hello', model: 'svc-tts' });
    await expect(config(price)).rejects.toThrow("'prices.0.endpoint' must be one of");
  });

  test.each([
    ['[plugin.hello]\ntimes = 0', "'plugin.hello.times' must be an integer from 1 to 9."],
    ['[plugin.hello]\ncount = 1', "'plugin.hello.count' has been renamed to 'plugin.hello.times'."],
    ['[plugin.hello]\nother = 1', "'plugin.hello.other' is unknown; allowed: times."],
    ['[plugin.other]', "'plugin.other' is unknown; allowed: hello"],
  ])('%j is rejected: %s', async (toml, words) => {
    await expect(config(`[plugins]\nextra = ["${hello()}"]\n${toml}`)).rejects.toThrow(words);
  });

  test('without such a plugin are rejected', async () => {
    await expect(config('[plugin.hello]\ntimes = 1')).rejects.toThrow("'plugin' is unknown");
  });
});
