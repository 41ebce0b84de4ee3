import { describe, expect, test } from 'vitest';
import type { StoragePlace } from '../../contract/stores/storage-health.ts';
import {
  type ModelReadiness,
  type PluginReadiness,
  type ReadinessInput,
  readinessStatus,
  storageReports,
} from './readiness.ts';

const speech = (ready: boolean): ModelReadiness => ({ task: 'speech', ready });

function status(input: Partial<ReadinessInput>): string {
  return readinessStatus({
    phase: 'serving',
    plugins: new Map(),
    models: new Map(),
    storage: new Map(),
    requiredModels: new Set(),
    ...input,
  });
}

describe('readiness', () => {
  test.each(['draining', 'stopping'] as const)('a process that is %s is not ready', (phase) => {
    expect(status({ phase, models: new Map([['a', speech(true)]]) })).toBe('stopping');
  });

  test('one unavailable model leaves the process ready while another works', () => {
    const models = new Map([
      ['a', speech(false)],
      ['b', speech(true)],
    ]);
    expect(status({ models })).toBe('ready');
    expect(status({ models, requiredModels: new Set(['b']) })).toBe('ready');
  });

  test('an unavailable required model makes the process unavailable', () => {
    const models = new Map([
      ['a', speech(false)],
      ['b', speech(true)],
    ]);
    expect(status({ models, requiredModels: new Set(['a']) })).toBe('unavailable');
  });

  test('a required model of a plugin that is off does not count', () => {
    expect(status({ models: new Map([['b', speech(true)]]), requiredModels: new Set(['a']) })).toBe('ready');
  });

  test('the process is unavailable when all models are', () => {
    const models = new Map([
      ['a', speech(false)],
      ['b', speech(false)],
    ]);
    const plugins = new Map<string, PluginReadiness>([['batch', { state: 'on', ready: true }]]);
    expect(status({ models, plugins })).toBe('unavailable');
  });

  test.each([
    ['database', 'unavailable'],
    ['blobs', 'ready'],
    ['data_dir', 'ready'],
  ] as const)('a process whose %s is full is %s', (full, expected) => {
    const storage = storageReports({ isFull: (place: StoragePlace) => place === full });
    expect(storage.get(full)).toEqual({ ready: false, detail: 'storage is full' });
    expect(status({ storage, models: new Map([['a', speech(true)]]) })).toBe(expected);
  });

  test('without models, one plugin that accepts work is enough', () => {
    const plugins = new Map<string, PluginReadiness>([
      ['a', { state: 'on', ready: false }],
      ['b', { state: 'on', ready: true }],
    ]);
    expect(status({ plugins })).toBe('ready');
    plugins.delete('b');
    expect(status({ plugins })).toBe('unavailable');
  });

  test.each(['starting', 'stopping', 'failed'] as const)('a plugin that is %s does not count', (state) => {
    expect(status({ plugins: new Map([['a', { state, ready: false }]]) })).toBe('ready');
  });
});
