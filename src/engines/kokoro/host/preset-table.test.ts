import { describe, expect, test, vi } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { silentLog } from '../../../../tools/harness/doubles/doubles.ts';
import type { HeardVoice } from './mix-search.ts';
import { PresetTable, type PresetTableOptions } from './preset-table.ts';

const NAMES = ['af_heart', 'am_adam', 'bf_emma'];
/** A print that tells by which name, and how often, it was made. */
const heardOf = (name: string, pitchHz?: number): HeardVoice[] => [
  { embedding: Float32Array.of(NAMES.indexOf(name), 0.1), pitchHz, seconds: 3 },
];

function tableIn(modelsDir: string, options: Partial<PresetTableOptions> = {}) {
  const measure = vi.fn(async (name: string) => heardOf(name, 120));
  return {
    measure,
    table: new PresetTable({ modelsDir, names: NAMES, measure, log: silentLog, ...options }),
  };
}

describe('the table of voices', () => {
  test('is measured once on a machine, one voice at a time', async () => {
    const modelsDir = await tempDir();
    const first = tableIn(modelsDir);
    await Promise.all([first.table.fill(), first.table.fill()]);
    expect(first.measure.mock.calls.map(([name]) => name)).toEqual(NAMES);
    expect(first.table.presets).toEqual(NAMES.map((name) => ({ name, heard: heardOf(name, 120) })));
    const second = tableIn(modelsDir);
    await second.table.fill();
    expect(second.measure).not.toHaveBeenCalled();
    expect(second.table.presets).toEqual(first.table.presets);
  });

  test('keeps what is not voiced', async () => {
    const modelsDir = await tempDir();
    const measure = async (name: string) => heardOf(name);
    await tableIn(modelsDir, { measure }).table.fill();
    const { table } = tableIn(modelsDir);
    await table.fill();
    expect(table.presets[0]?.heard[0]?.pitchHz).toBeUndefined();
  });

  test('goes on where a run was cut off, with what it has in use meanwhile', async () => {
    const modelsDir = await tempDir();
    const second = Promise.withResolvers<void>();
    const cut = tableIn(modelsDir, {
      measure: async (name, signal) => {
        if (name === NAMES[0]) return heardOf(name, 120);
        second.resolve();
        // Until the table is closed.
        return await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      },
    });
    const filling = cut.table.fill();
    await second.promise;
    expect(cut.table.presets.map(({ name }) => name)).toEqual([NAMES[0]]);
    await cut.table.close();
    await filling;
    const { table, measure } = tableIn(modelsDir);
    await table.fill();
    expect(measure.mock.calls.map(([name]) => name)).toEqual(NAMES.slice(1));
  });

  test('is left as it is when a measurement fails, which is logged, and filled at the next call', async () => {
    const errors: unknown[] = [];
    const log = { ...silentLog, error: (...args: unknown[]) => errors.push(args) };
    let fails = true;
    const measure = async (name: string) => {
      if (fails && name === NAMES[1]) throw new Error('no process');
      return heardOf(name, 120);
    };
    const { table } = tableIn(await tempDir(), { measure, log });
    await table.fill();
    expect(table.presets.length).toBe(1);
    expect(errors.length).toBe(1);
    fails = false;
    await table.fill();
    expect(table.presets.length).toBe(3);
  });

  test('that is closed measures nothing', async () => {
    const { table, measure } = tableIn(await tempDir());
    await table.close();
    await table.close();
    await table.fill();
    expect(measure).not.toHaveBeenCalled();
  });
});
