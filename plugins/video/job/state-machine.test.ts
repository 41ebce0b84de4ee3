import { describe, expect, it } from 'vitest';
import { FINAL_VIDEO_STATUSES, VIDEO_STATUSES, type VideoStatus } from '../../../src/contract/stores/video-store.ts';
import { documentedTable, machineTable } from '../../../test/harness/state-table.ts';
import { type Event, next } from './state-machine.ts';

const STATES = Object.fromEntries(VIDEO_STATUSES.map((status) => [status, status]));

const EVENTS: Record<string, Event> = {
  taken: { kind: 'taken', late: false },
  'taken late': { kind: 'taken', late: true },
  made: { kind: 'made' },
  refused: { kind: 'refused' },
  hindered: { kind: 'hindered' },
  stopped: { kind: 'stopped' },
  'delete asked': { kind: 'delete_asked' },
};

function cell(status: VideoStatus, event: Event): string {
  const { status: after, effect } = next(status, event);
  const name = effect?.kind === 'answer' ? String(effect.status) : (effect?.kind.replace('_', ' ') ?? '');
  const moved = after === status ? '' : `→ ${after}`;
  return [name, moved].filter((part) => part !== '').join(' ') || '–';
}

it('is the table of docs/states/video.md, every cell', () => {
  expect(machineTable(STATES, EVENTS, cell)).toEqual(documentedTable('video'));
});

describe('in every state', () => {
  it.each(VIDEO_STATUSES)('%s: what has ended stays as it is', (status) => {
    if (!FINAL_VIDEO_STATUSES.has(status)) return;
    for (const event of Object.values(EVENTS)) expect(next(status, event).status).toBe(status);
  });

  it.each(VIDEO_STATUSES)('%s: a state that was left is not entered again', (status) => {
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
