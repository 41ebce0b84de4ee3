import { describe, expect, it } from 'vitest';
import type { Flow } from './dense-flow.ts';
import { backwardDisplacements, maxCameraSpeed, separateMotion } from './motion-model.ts';
import { emptyField, type Grid } from './vector-field.ts';

const WIDTH = 640;
const HEIGHT = 360;
const GRID: Grid = { columns: 79, rows: 44, origin: 7.5, step: 8 };

/** A flow with the given velocities and full confidence. */
function velocities(at: (x: number, y: number) => readonly [number, number]): Flow {
  const field = emptyField(GRID);
  for (let node = 0; node < field.x.length; node++) {
    const { x, y } = positionOf(node);
    [field.x[node], field.y[node]] = at(x, y);
  }
  const all = new Float32Array(field.x.length).fill(1);
  return { ...field, fit: all, trust: all.slice() };
}

const positionOf = (node: number) => ({
  x: GRID.origin + GRID.step * (node % GRID.columns),
  y: GRID.origin + GRID.step * Math.floor(node / GRID.columns),
});

const fromCentre = (x: number, y: number) => [x - (WIDTH - 1) / 2, y - (HEIGHT - 1) / 2] as const;

describe('separateMotion', () => {
  it('measures zoom, turn and shift of the camera exactly', () => {
    const { camera, local } = separateMotion(
      velocities((x, y) => {
        const [dx, dy] = fromCentre(x, y);
        return [0.01 * dx - 0.003 * dy + 2, 0.003 * dx + 0.01 * dy - 1];
      }),
      WIDTH,
      HEIGHT,
    );
    expect(camera.zoom).toBeCloseTo(0.01, 5);
    expect(camera.turn).toBeCloseTo(0.003, 5);
    expect(camera.shiftX).toBeCloseTo(2, 3);
    expect(camera.shiftY).toBeCloseTo(-1, 3);
    expect(Math.max(...local.x.map(Math.abs), ...local.y.map(Math.abs))).toBe(0);
  });

  it('separates the motion of a large object from the camera motion', () => {
    const inside = (x: number, y: number) => x > 200 && x < 440 && y > 60 && y < 340;
    const { camera, local } = separateMotion(
      velocities((x, y) => (inside(x, y) ? [9, 3] : [1, 0])),
      WIDTH,
      HEIGHT,
    );
    expect(camera.shiftX).toBeCloseTo(1, 1);
    expect(camera.shiftY).toBeCloseTo(0, 1);
    const middle = 22 * GRID.columns + 39;
    expect(local.x[middle]).toBeGreaterThan(7.5);
  });

  it('omits local motion with a bad fit', () => {
    const flow = velocities((x, y) => (x > 200 && x < 440 && y > 60 && y < 340 ? [9, 3] : [1, 0]));
    flow.fit.fill(0.1);
    const { local } = separateMotion(flow, WIDTH, HEIGHT);
    expect(Math.max(...local.x)).toBeLessThan(1);
  });

  it('measures no motion without confidence', () => {
    const flow = velocities(() => [5, 5]);
    flow.trust.fill(0);
    expect(maxCameraSpeed(separateMotion(flow, WIDTH, HEIGHT).camera)).toBe(0);
  });
});

describe('backwardDisplacements', () => {
  it('extrapolates a rotation along a circle', () => {
    const turn = 0.02;
    const motion = separateMotion(
      velocities((x, y) => {
        const [dx, dy] = fromCentre(x, y);
        return [-turn * dy, turn * dx];
      }),
      WIDTH,
      HEIGHT,
    );
    const back = emptyField(GRID);
    backwardDisplacements(motion, 50, back);
    for (const node of [0, 500, 3000]) {
      const { x, y } = positionOf(node);
      const [fromX, fromY] = fromCentre(x, y);
      const [toX, toY] = fromCentre(x + (back.x[node] ?? 0), y + (back.y[node] ?? 0));
      expect(Math.hypot(toX, toY) / Math.hypot(fromX, fromY)).toBeCloseTo(1, 3);
      const angle = Math.atan2(fromY, fromX) - Math.atan2(toY, toX);
      expect((angle + 2 * Math.PI) % (2 * Math.PI)).toBeCloseTo(1, 2);
    }
  });

  it('extrapolates a shift, and stops local motion', () => {
    const inside = (x: number, y: number) => x > 200 && x < 440 && y > 60 && y < 340;
    const motion = separateMotion(
      velocities((x, y) => (inside(x, y) ? [6, 0] : [2, 0])),
      WIDTH,
      HEIGHT,
    );
    const back = emptyField(GRID);
    backwardDisplacements(motion, 100, back);
    expect(back.x[0]).toBeCloseTo(-200, 0);
    // The object in the centre moved 4 pixels more per frame, for about four frames.
    const node = 22 * GRID.columns + 66;
    expect((back.x[node] ?? 0) + 200).toBeLessThan(-8);
    expect((back.x[node] ?? 0) + 200).toBeGreaterThan(-18);
  });
});
