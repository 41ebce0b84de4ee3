import { TypeGuard } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { parseModels } from '../../src/config/models.ts';
import type { ModelTable } from '../../src/contract/model-table.ts';
import { type AnyFamily, SLOT_OF_TASK } from '../../src/engines/family.ts';
import { LOADERS } from '../../src/engines/loaders.ts';
import { engineProvider } from '../../src/engines/open-engines.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { catalog, entriesForEngines } from '../../src/models/model-files.ts';
import { noMetrics, silentLog } from '../../tools/harness/doubles/doubles.ts';

type Table = Readonly<Record<string, unknown>>;

const ID = 'it';

/** Parses a CONFIG file with a table for {@link ID}. */
function parsed(table: Table) {
  return parseModels({ path: 'service.toml', models: { [ID]: table } }, () => undefined);
}

function settingsOf({ task }: AnyFamily, table: Table) {
  const settings = parsed(table).tables[task].get(ID);
  if (settings === undefined) throw new Error(`the table is not a model of ${task}`);
  return settings;
}

/** The keys that a table must have besides `kind`. */
function requiredKeys({ schema, task }: AnyFamily): Table {
  const values: Table = { base_url: 'http://127.0.0.1:9/v1', model: 'any' };
  const keys = schema.required?.filter((key) => key !== 'kind') ?? [];
  const given = keys.map((key) => [key, values[key]] as const);
  return { ...Object.fromEntries(given), ...('task' in schema.properties && { task }) };
}

/** What every family of engines promises to CONFIG, to the documentation and to the set-up. */
export function engineFamilyCases(family: AnyFamily): void {
  const { kind, task, schema } = family;
  const required = requiredKeys(family);
  const table = { kind, ...required };
  describe(`${kind} for ${task} as an EngineFamily`, () => {
    it('documents each key, with a default that the key allows', () => {
      for (const [key, property] of Object.entries(schema.properties)) {
        expect(property.description, key).toMatch(/^\S.*[^.\s]$/s);
        if (property.default !== undefined) expect(Value.Check(property, property.default), key).toBe(true);
        if (key !== 'kind' && !(key in required)) expect(TypeGuard.IsOptional(property), key).toBe(true);
      }
      expect(schema.additionalProperties).toBe(false);
    });

    it('has the documented defaults', () => {
      const defaults = Object.entries(schema.properties).flatMap(([key, property]) =>
        property.default === undefined ? [] : [[key, property.default] as const],
      );
      const written = settingsOf(family, { ...Object.fromEntries(defaults), ...table });
      const omitted = Object.entries(settingsOf(family, table)).filter(([, value]) => value !== undefined);
      expect(written).toMatchObject(Object.fromEntries(omitted));
    });

    it('parses a table without optional keys', () => {
      expect(settingsOf(family, table).kind).toBe(kind);
    });

    it('names an unknown key, and the keys that are allowed', () => {
      expect(() => parsed({ ...table, no_such_key: 1 })).toThrow(
        `service.toml: 'models."${ID}".no_such_key' is unknown; allowed: ${Object.keys(schema.properties).join(', ')}`,
      );
    });

    it('has its files in the model catalog', () => {
      const files = family.files(settingsOf(family, table));
      for (const engine of files.catalog) expect(entriesForEngines([engine]), engine).not.toEqual([]);
      expect(files.outside).toBeUndefined();
      expect(family.filesNamed?.('no-such-weights')).toBeUndefined();
    });

    it('has a loader for its models in the inference processes', () => {
      if (family.pool === undefined) return;
      expect(LOADERS.map((loader) => loader.kind)).toContain(kind);
      expect(family.pool.name(settingsOf(family, table)).startsWith(kind)).toBe(true);
    });

    it('has its default files downloaded for tests', () => {
      const entries = entriesForEngines(family.files(settingsOf(family, table)).catalog);
      const tested = catalog.filter(({ engines }) => engines.includes('test'));
      // eSpeak NG is downloaded with the default speech model.
      const own = entries.filter(({ role }) => role !== 'phonemes');
      expect(tested).toEqual(expect.arrayContaining(own));
    });
  });
}

/** What every family promises to plugins: a model with its default keys opens, is ready, and closes. */
export function openedFamilyCases(family: AnyFamily, modelsDir: string): void {
  const { kind, task } = family;
  describe(`a model of ${kind} for ${task}`, () => {
    it('is opened, ready and closed', async () => {
      const models = new Map([[ID, settingsOf(family, { kind, ...requiredKeys(family) })]]);
      const provider = engineProvider({
        models: { [task]: models },
        inference: { provider: 'cpu', workers: 1, threads: 1, queueLimit: 64, environment: {} },
        requiredModels: new Set([ID]),
        modelsDir,
        clock: systemClock,
        log: silentLog,
        metrics: noMetrics,
      });
      try {
        const slots = await provider.provide(new Set([SLOT_OF_TASK[task]]));
        const opened: ModelTable<{ ready(): { readonly ready: boolean } }> | undefined =
          slots[SLOT_OF_TASK[task]];
        expect(opened?.ids).toEqual([ID]);
        expect(opened?.get(ID)?.ready()).toMatchObject({ ready: true });
        expect(opened?.get('no-such-model')).toBeUndefined();
      } finally {
        await provider.close();
        await provider.close();
      }
    });
  });
}
