import { describe, expect, it } from 'vitest';
import { BATCH_ENDS, BATCH_STATUSES, type BatchStatus } from '../../../src/contract/stores/batch-store.ts';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import { type Effect, type Event, next } from './state-machine.ts';

const STATES = Object.fromEntries(BATCH_STATUSES.map((status) => [status, status]));

const EVENTS: Record<string, Event> = {
  taken: { kind: 'taken', late: false },
  'taken late': { kind: 'taken', late: true },
  'input accepted': { kind: 'input_accepted' },
  'input refused': { kind: 'input_refused' },
  'input lost': { kind: 'input_lost' },
  'lines ended': { kind: 'lines_ended' },
  'last line ended': { kind: 'last_line_ended' },
  'files stored, completed': { kind: 'files_stored', as: 'completed' },
  'files stored, cancelled': { kind: 'files_stored', as: 'cancelled' },
  'files stored, expired': { kind: 'files_stored', as: 'expired' },
  'cancel asked': { kind: 'cancel_asked' },
};

function effectName(effect: Effect): string {
  if (effect.kind === 'answer') return String(effect.status);
  const name = effect.kind.replace('_', ' ');
  if (effect.kind === 'refuse') return `${name} (${effect.code})`;
  return 'as' in effect ? `${name} (${effect.as})` : name;
}

function cell(status: BatchStatus, event: Event): string {
  const step = next(status, event);
  const effects = step.effects.map(effectName).join(', ');
  const moved = step.status === status ? '' : `→ ${step.status}`;
  return [effects, moved].filter((part) => part !== '').join(' ') || '–';
}

it('is the table of docs/states/batch.md, every cell', () => {
  expect(machineTable(STATES, EVENTS, cell)).toEqual(documentedTable('batch'));
});

describe('in every state', () => {
  it.each(BATCH_STATUSES)('%s: a runner has one thing to do, or it has ended for good', (status) => {
    for (const late of [false, true]) {
      expect(next(status, { kind: 'taken', late }).effects).toHaveLength(BATCH_ENDS.has(status) ? 0 : 1);
    }
    if (!BATCH_ENDS.has(status)) return;
    for (const event of Object.values(EVENTS)) expect(next(status, event).status).toBe(status);
  });

  it('no state is entered twice', () => {
    const walk = (status: BatchStatus, before: ReadonlySet<BatchStatus>) => {
      for (const event of Object.values(EVENTS)) {
        const after = next(status, event).status;
        if (after === status) continue;
        expect(before).not.toContain(after);
        walk(after, new Set([...before, after]));
      }
    };
    walk('validating', new Set(['validating']));
  });
});
