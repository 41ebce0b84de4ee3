import { expect, test } from 'vitest';
import { clipFacts, videoRecord } from '../../../test/contract/video-store.cases.ts';
import { ProgressEstimator } from './progress-estimator.ts';

const STARTED = 1_767_323_050;
const work = { model: 'vid-2.0', width: 1000, height: 1000, seconds: 5, clip: clipFacts({ fps: 30 }) };
const running = videoRecord({ ...work, status: 'in_progress', startedAt: STARTED });
const after = (ms: number) => STARTED * 1000 + ms;

test('progress is 0 while queued, an estimate of at most 95, and 100 at the end', () => {
  const progress = new ProgressEstimator();
  progress.recordDuration(work, 10_000);
  expect(progress.progress(videoRecord(work), after(0))).toBe(0);
  expect(
    [0, 99, 100, 5000, 9499, 9500, 10_000, 1e9].map((ms) => progress.progress(running, after(ms))),
  ).toEqual([0, 0, 1, 50, 94, 95, 95, 95]);
  // A clock that was set back.
  expect(progress.progress(running, after(-5000))).toBe(0);
  expect(progress.progress({ ...running, status: 'completed' }, after(1))).toBe(100);
  expect(progress.progress({ ...running, status: 'failed' }, after(5000))).toBe(0);
});

test('estimates per model, proportional to the pixels, weighted by the newest measurement', () => {
  const progress = new ProgressEstimator();
  const half = (video = running) => progress.progress(video, after(5000));
  const unknown = half();
  progress.recordDuration({ ...work, model: 'other' }, 1000);
  expect(half()).toBe(unknown);
  progress.recordDuration(work, 10_000);
  expect(half()).toBe(50);
  expect(half({ ...running, seconds: 10 })).toBe(25);
  expect(half({ ...running, width: 2000 })).toBe(25);
  expect(half({ ...running, clip: clipFacts({ fps: 60 }) })).toBe(25);
  for (let round = 0; round < 20; round += 1) progress.recordDuration(work, 20_000);
  expect(half()).toBe(25);
});

test('the poll delay is the estimated remaining time, limited to one to five seconds', () => {
  const progress = new ProgressEstimator();
  progress.recordDuration(work, 8000);
  expect(progress.pollAfterMs(videoRecord(work), after(0))).toBe(5000);
  expect([0, 5000, 7500, 60_000].map((ms) => progress.pollAfterMs(running, after(ms)))).toEqual([
    5000, 3000, 1000, 1000,
  ]);
});
