import { describe, expect, it } from 'vitest';
import { engineFamilyCases } from '../../test/contract/engine-family.cases.ts';
import { COMPONENTS, FAMILIES, familiesOf, familyOf } from './families.ts';
import { ENGINE_TASKS } from './family.ts';

for (const family of FAMILIES) engineFamilyCases(family);

describe('the families', () => {
  it('have different kinds or tasks, and each task has one', () => {
    const names = FAMILIES.map(({ kind, task }) => `${kind} ${task}`);
    expect(new Set(names).size).toBe(names.length);
    for (const task of ENGINE_TASKS) expect(familiesOf(task).map((each) => each.task)).toContain(task);
  });

  it('are found by kind and task', () => {
    expect(familyOf('speech', { kind: 'piper' }).kind).toBe('piper');
    expect(() => familyOf('chat', { kind: 'piper' })).toThrow("no family 'piper' for chat");
  });
});

describe('the components', () => {
  it('have different services', () => {
    expect(new Set(COMPONENTS.map(({ slot }) => slot)).size).toBe(COMPONENTS.length);
  });
});
