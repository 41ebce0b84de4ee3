import { describe, expect, test, vi } from 'vitest';
import { tempDir } from '../../../../test/harness/temp-dir.ts';
import { silentLog } from '../../../../tools/harness/doubles/doubles.ts';
import type { VoiceMeasurement } from './mix-search.ts';
import { PresetTable, type PresetTableOptions } from './preset-table.ts';

const NAMES = ['af_heart', 'am_adam', 'bf_emma'];
/** Measurements whose embedding identifies the voice. */
const measurementsOf = (name: string, pitchHz?: number): VoiceMeasurement[] => [
  { embedding: Float32Array.of(NAMES.indexOf(name), 0.1), pitchHz, seconds: 3 },
];

function tableIn(modelsDir: string, options: Partial<PresetTableOptions> = {}) {
  const measure = vi.fn(async (name: string) => measurementsOf(name, 120));
  return {
    measure,
    table: new PresetTable({ modelsDir, names: NAMES, measure, log: silentLog, ...options }),
  };
}

describe('PresetTable', () => {
  test('measures each voice once per machine, one after the other', async () => {
    const modelsDir = await tempDir();
    const first = tableIn(modelsDir);
    await Promise.all([first.table.fill(), first.table.fill()]);
    expect(first.measure.mock.calls.map(([name]) => name)).toEqual(NAMES);
    expect(first.table.presets).toEqual(
      NAMES.map((name) => ({ name, measurements: measurementsOf(name, 120) })),
    );
    const second = tableIn(modelsDir);
    await second.table.fill();
    expect(second.measure).not.toHaveBeenCalled();
    expect(second.table.presets).toEqual(first.table.presets);
  });

  test('stores an undefined pitch', async () => {
    const modelsDir = await tempDir();
    const measure = async (name: string) => measurementsOf(name);
    await tableIn(modelsDir, { measure }).table.fill();
    const { table } = tableIn(modelsDir);
    await table.fill();
    expect(table.presets[0]?.measurements[0]?.pitchHz).toBeUndefined();
  });

  test('offers the measured voices during a measurement, and resumes an interrupted one', async () => {
    const modelsDir = await tempDir();
    const second = Promise.withResolvers<void>();
    const cut = tableIn(modelsDir, {
      measure: async (name, signal) => {
        if (name === NAMES[0]) return measurementsOf(name, 120);
        second.resolve();
        // Pends until the table is closed.
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

  test('logs a failed measurement, keeps the measured voices and continues with the next call', async () => {
    const errors: unknown[] = [];
    const log = { ...silentLog, error: (...args: unknown[]) => errors.push(args) };
    let fails = true;
    const measure = async (name: string) => {
      if (fails && name === NAMES[1]) throw new Error('no process');
      return measurementsOf(name, 120);
    };
    const { table } = tableIn(await tempDir(), { measure, log });
    await table.fill();
    expect(table.presets.length).toBe(1);
    expect(errors.length).toBe(1);
    fails = false;
    await table.fill();
    expect(table.presets.length).toBe(3);
  });

  test('measures nothing after it is closed', async () => {
    const { table, measure } = tableIn(await tempDir());
    await table.close();
    await table.close();
    await table.fill();
    expect(measure).not.toHaveBeenCalled();
  });
});
