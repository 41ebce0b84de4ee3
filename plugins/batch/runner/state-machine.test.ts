import { describe, expect, it } from 'vitest';
import {
  BATCH_STATUSES,
  type BatchStatus,
  FINAL_BATCH_STATUSES,
} from '../../../src/contract/stores/batch-store.ts';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import { type Effect, type Event, next } from './state-machine.ts';

const STATES = Object.fromEntries(BATCH_STATUSES.map((status) => [status, status]));

const EVENTS: Record<string, Event> = {
  claimed: { kind: 'claimed', late: false },
  'claimed late': { kind: 'claimed', late: true },
  'input accepted': { kind: 'input_accepted' },
  'input rejected': { kind: 'input_rejected' },
  'input lost': { kind: 'input_lost' },
  'lines finished': { kind: 'lines_finished' },
  'last line finished': { kind: 'last_line_finished' },
  'files stored, completed': { kind: 'files_stored', as: 'completed' },
  'files stored, cancelled': { kind: 'files_stored', as: 'cancelled' },
  'files stored, expired': { kind: 'files_stored', as: 'expired' },
  'cancel requested': { kind: 'cancel_requested' },
};

function effectName(effect: Effect): string {
  if (effect.kind === 'respond') return String(effect.status);
  const name = effect.kind.replace('_', ' ');
  if (effect.kind === 'fail') return `${name} (${effect.code})`;
  return 'as' in effect ? `${name} (${effect.as})` : name;
}

function cell(status: BatchStatus, event: Event): string {
  const step = next(status, event);
  const effects = step.effects.map(effectName).join(', ');
  const moved = step.status === status ? '' : `→ ${step.status}`;
  return [effects, moved].filter((part) => part !== '').join(' ') || '–';
}

it('equals the table of docs/states/batch.md', () => {
  expect(machineTable(STATES, EVENTS, cell)).toEqual(documentedTable('batch'));
});

describe('in every state', () => {
  it.each(BATCH_STATUSES)('%s: a runner has one effect to perform, or the batch is finished', (status) => {
    for (const late of [false, true]) {
      expect(next(status, { kind: 'claimed', late }).effects).toHaveLength(
        FINAL_BATCH_STATUSES.has(status) ? 0 : 1,
      );
    }
    if (!FINAL_BATCH_STATUSES.has(status)) return;
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
