/** UTF-16 units of one piece of memory. */
const PIECE_UNITS = 2 ** 16;

/**
 * The ids of a file, each of which is to be there once. Kept as numbers: the collector looks through a `Set` of so many
 * strings each time that it runs while lines are parsed, which was a fifth of a check.
 */
export class KnownIds {
  /** Each id is its length, then its units, within one piece. */
  readonly #pieces: Uint16Array[] = [];
  /** Of the last piece. */
  #usedUnits = PIECE_UNITS;
  /** One more than the place of an id, at its hash or in the next free slot; 0 is free. At most half is in use. */
  readonly #slots: Int32Array;
  /** So that nobody knows ids whose hashes are the same. */
  readonly #seed = crypto.getRandomValues(new Uint32Array(1))[0];

  /** @param maxIds how many may be added. */
  constructor(maxIds: number) {
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * maxIds)));
  }

  /** Adds an id of less than 65,536 UTF-16 units, and tells whether it is new. */
  add(id: string): boolean {
    const last = this.#slots.length - 1;
    let slot = Bun.hash.xxHash32(id, this.#seed) & last;
    for (;;) {
      const next = this.#slots[slot] ?? 0;
      if (next === 0) break;
      if (this.#isAt(next - 1, id)) return false;
      slot = (slot + 1) & last;
    }
    this.#slots[slot] = this.#keep(id) + 1;
    return true;
  }

  #isAt(place: number, id: string): boolean {
    const piece = this.#pieces[Math.floor(place / PIECE_UNITS)];
    const start = place % PIECE_UNITS;
    if (piece?.[start] !== id.length) return false;
    for (let unit = 0; unit < id.length; unit += 1) {
      if (piece[start + 1 + unit] !== id.charCodeAt(unit)) return false;
    }
    return true;
  }

  #keep(id: string): number {
    let piece = this.#pieces.at(-1);
    if (piece === undefined || this.#usedUnits + 1 + id.length > PIECE_UNITS) {
      piece = new Uint16Array(PIECE_UNITS);
      this.#pieces.push(piece);
      this.#usedUnits = 0;
    }
    const start = this.#usedUnits;
    piece[start] = id.length;
    for (let unit = 0; unit < id.length; unit += 1) piece[start + 1 + unit] = id.charCodeAt(unit);
    this.#usedUnits += 1 + id.length;
    return (this.#pieces.length - 1) * PIECE_UNITS + start;
  }
}
