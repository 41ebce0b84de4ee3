/** Vectors at the nodes of a regular grid over a picture. */

export interface Grid {
  readonly columns: number;
  readonly rows: number;
  /** Position of the first node in both directions, in pixels of the full picture. */
  readonly origin: number;
  /** Distance between two nodes, in pixels. */
  readonly step: number;
}

/** One vector per node, in pixels of the full picture. */
export interface VectorField {
  readonly grid: Grid;
  readonly x: Float32Array;
  readonly y: Float32Array;
}

export function emptyField(grid: Grid): VectorField {
  const nodes = grid.columns * grid.rows;
  return { grid, x: new Float32Array(nodes), y: new Float32Array(nodes) };
}

/** Interpolates a field at arbitrary positions. Outside the grid, the values of the border apply. */
export class FieldSampler {
  readonly #field: VectorField;
  /** Result of the last call of {@link sample}. */
  x = 0;
  y = 0;

  constructor(field: VectorField) {
    this.#field = field;
  }

  /** Interpolates bilinearly. Position in pixels of the full picture. */
  sample(x: number, y: number): void {
    const { grid, x: fieldX, y: fieldY } = this.#field;
    const { columns, rows, origin, step } = grid;
    const column = Math.min(columns - 1, Math.max(0, (x - origin) / step));
    const row = Math.min(rows - 1, Math.max(0, (y - origin) / step));
    const left = Math.min(columns - 2, Math.floor(column));
    const top = Math.min(rows - 2, Math.floor(row));
    const right = column - left;
    const down = row - top;
    const node = top * columns + left;
    const w00 = (1 - right) * (1 - down);
    const w01 = right * (1 - down);
    const w10 = (1 - right) * down;
    const w11 = right * down;
    this.x =
      w00 * (fieldX[node] as number) +
      w01 * (fieldX[node + 1] as number) +
      w10 * (fieldX[node + columns] as number) +
      w11 * (fieldX[node + columns + 1] as number);
    this.y =
      w00 * (fieldY[node] as number) +
      w01 * (fieldY[node + 1] as number) +
      w10 * (fieldY[node + columns] as number) +
      w11 * (fieldY[node + columns + 1] as number);
  }
}
