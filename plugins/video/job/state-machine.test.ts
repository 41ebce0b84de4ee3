import { describe, expect, it } from 'vitest';
import {
  FINAL_VIDEO_STATUSES,
  VIDEO_STATUSES,
  type VideoStatus,
} from '../../../src/contract/stores/video-store.ts';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import { type Event, next } from './state-machine.ts';

const STATES = Object.fromEntries(VIDEO_STATUSES.map((status) => [status, status]));

const EVENTS: Record<string, Event> = {
  claimed: { kind: 'claimed', late: false },
  'claimed late': { kind: 'claimed', late: true },
  generated: { kind: 'generated' },
  rejected: { kind: 'rejected' },
  'retryable error': { kind: 'retryable_error' },
  stopped: { kind: 'stopped' },
  'delete requested': { kind: 'delete_requested' },
};

function cell(status: VideoStatus, event: Event): string {
  const { status: after, effect } = next(status, event);
  const name = effect?.kind === 'respond' ? String(effect.status) : (effect?.kind.replace('_', ' ') ?? '');
  const moved = after === status ? '' : `→ ${after}`;
  return [name, moved].filter((part) => part !== '').join(' ') || '–';
}

it('equals the table of docs/states/video.md', () => {
  expect(machineTable(STATES, EVENTS, cell)).toEqual(documentedTable('video'));
});

describe('in every state', () => {
  it.each(VIDEO_STATUSES)('%s: a finished job does not change its status', (status) => {
    if (!FINAL_VIDEO_STATUSES.has(status)) return;
    for (const event of Object.values(EVENTS)) expect(next(status, event).status).toBe(status);
  });

  it.each(VIDEO_STATUSES)('%s: no status is entered twice', (status) => {
    const walk = (from: VideoStatus, before: ReadonlySet<VideoStatus>) => {
      for (const event of Object.values(EVENTS)) {
        const after = next(from, event).status;
        if (after === from) continue;
        expect(before).not.toContain(after);
        walk(after, new Set([...before, after]));
      }
    };
    walk(status, new Set([status]));
  });
});
