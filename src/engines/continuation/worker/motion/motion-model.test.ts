import { describe, expect, it } from 'vitest';
import type { Flow } from './dense-flow.ts';
import { displacementsBack, motionOf, wholeSpeed } from './motion-model.ts';
import { emptyField, type Grid } from './vector-field.ts';

const WIDTH = 640;
const HEIGHT = 360;
const GRID: Grid = { columns: 79, rows: 44, origin: 7.5, step: 8 };

/** Velocities that are given for each place, all of them trusted. */
function velocities(at: (x: number, y: number) => readonly [number, number]): Flow {
  const field = emptyField(GRID);
  for (let node = 0; node < field.x.length; node++) {
    const { x, y } = placeOf(node);
    [field.x[node], field.y[node]] = at(x, y);
  }
  const all = new Float32Array(field.x.length).fill(1);
  return { ...field, fit: all, trust: all.slice() };
}

const placeOf = (node: number) => ({
  x: GRID.origin + GRID.step * (node % GRID.columns),
  y: GRID.origin + GRID.step * Math.floor(node / GRID.columns),
});

const fromCentre = (x: number, y: number) => [x - (WIDTH - 1) / 2, y - (HEIGHT - 1) / 2] as const;

describe('the motion of the whole', () => {
  it('is found exactly, with zoom, turn and shift', () => {
    const { whole, local } = motionOf(
      velocities((x, y) => {
        const [dx, dy] = fromCentre(x, y);
        return [0.01 * dx - 0.003 * dy + 2, 0.003 * dx + 0.01 * dy - 1];
      }),
      WIDTH,
      HEIGHT,
    );
    expect(whole.zoom).toBeCloseTo(0.01, 5);
    expect(whole.turn).toBeCloseTo(0.003, 5);
    expect(whole.shiftX).toBeCloseTo(2, 3);
    expect(whole.shiftY).toBeCloseTo(-1, 3);
    expect(Math.max(...local.x.map(Math.abs), ...local.y.map(Math.abs))).toBe(0);
  });

  it('is not that of something large that moves in it', () => {
    const inside = (x: number, y: number) => x > 200 && x < 440 && y > 60 && y < 340;
    const { whole, local } = motionOf(
      velocities((x, y) => (inside(x, y) ? [9, 3] : [1, 0])),
      WIDTH,
      HEIGHT,
    );
    expect(whole.shiftX).toBeCloseTo(1, 1);
    expect(whole.shiftY).toBeCloseTo(0, 1);
    const middle = 22 * GRID.columns + 39;
    expect(local.x[middle]).toBeGreaterThan(7.5);
  });

  it('leaves out of what moves in it what does not fit', () => {
    const flow = velocities((x, y) => (x > 200 && x < 440 && y > 60 && y < 340 ? [9, 3] : [1, 0]));
    flow.fit.fill(0.1);
    const { local } = motionOf(flow, WIDTH, HEIGHT);
    expect(Math.max(...local.x)).toBeLessThan(1);
  });

  it('is none where nothing is trusted', () => {
    const flow = velocities(() => [5, 5]);
    flow.trust.fill(0);
    expect(wholeSpeed(motionOf(flow, WIDTH, HEIGHT).whole)).toBe(0);
  });
});

describe('motion that goes on', () => {
  it('turns a turn into a circle, however far', () => {
    const turn = 0.02;
    const motion = motionOf(
      velocities((x, y) => {
        const [dx, dy] = fromCentre(x, y);
        return [-turn * dy, turn * dx];
      }),
      WIDTH,
      HEIGHT,
    );
    const back = emptyField(GRID);
    displacementsBack(motion, 50, back);
    for (const node of [0, 500, 3000]) {
      const { x, y } = placeOf(node);
      const [fromX, fromY] = fromCentre(x, y);
      const [toX, toY] = fromCentre(x + (back.x[node] ?? 0), y + (back.y[node] ?? 0));
      expect(Math.hypot(toX, toY) / Math.hypot(fromX, fromY)).toBeCloseTo(1, 3);
      const angle = Math.atan2(fromY, fromX) - Math.atan2(toY, toX);
      expect((angle + 2 * Math.PI) % (2 * Math.PI)).toBeCloseTo(1, 2);
    }
  });

  it('carries a shift on, and lets what moves in it come to rest', () => {
    const inside = (x: number, y: number) => x > 200 && x < 440 && y > 60 && y < 340;
    const motion = motionOf(
      velocities((x, y) => (inside(x, y) ? [6, 0] : [2, 0])),
      WIDTH,
      HEIGHT,
    );
    const back = emptyField(GRID);
    displacementsBack(motion, 100, back);
    expect(back.x[0]).toBeCloseTo(-200, 0);
    // The place that the middle has come from moved 4 more a frame, for about four frames.
    const node = 22 * GRID.columns + 66;
    expect((back.x[node] ?? 0) + 200).toBeLessThan(-8);
    expect((back.x[node] ?? 0) + 200).toBeGreaterThan(-18);
  });
});
