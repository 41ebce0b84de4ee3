import { expect, test } from 'vitest';
import { fetchProgress } from './fetch-progress.ts';

function setUp() {
  let nowMs = 0;
  const notes: string[] = [];
  const progress = fetchProgress(
    (note) => notes.push(note),
    () => nowMs,
  );
  return {
    progress,
    notes,
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('sums several downloads', () => {
  const { progress } = setUp();
  expect(progress).toMatchObject({ doneBytes: 0, totalBytes: undefined, remainingS: undefined });
  progress.startSet?.(300);
  progress.startDownload('a', 100);
  progress.update(60);
  expect(progress).toMatchObject({ doneBytes: 60, totalBytes: 300 });
  progress.finishDownload();
  progress.startDownload('b', 200);
  expect(progress.doneBytes).toBe(100);
  progress.update(50);
  expect(progress.doneBytes).toBe(150);
  progress.finishDownload();
  expect(progress.doneBytes).toBe(300);
});

test('a download that was complete from an earlier run counts', () => {
  const { progress } = setUp();
  progress.startSet?.(100);
  progress.startDownload('a', 100);
  progress.finishDownload();
  expect(progress.doneBytes).toBe(100);
});

test('another source starts again', () => {
  const { progress } = setUp();
  progress.startSet?.(300);
  progress.startDownload('a', 300);
  progress.update(200);
  progress.startSet?.(400);
  expect(progress).toMatchObject({ doneBytes: 0, totalBytes: 400, remainingS: undefined });
});

test('the remaining time follows from the bytes of this run', () => {
  const { progress, wait } = setUp();
  progress.startSet?.(1000);
  progress.startDownload('a', 1000);
  // Resumed at byte 400.
  progress.update(400);
  expect(progress.remainingS).toBeUndefined();
  wait(2000);
  progress.update(600);
  expect(progress.remainingS).toBe(4);
});

test('notes are passed on', () => {
  const { progress, notes } = setUp();
  progress.note('trying another source');
  expect(notes).toEqual(['trying another source']);
});
