/** An immutable, growing set of ids. Adding to the newest version shares its storage; adding to an older version copies it. */
export class SeenIds {
  static readonly none = new SeenIds(new Map(), 0);
  readonly #order: Map<string, number>;
  readonly #size: number;

  private constructor(order: Map<string, number>, size: number) {
    this.#order = order;
    this.#size = size;
  }

  get size(): number {
    return this.#size;
  }

  has(id: string): boolean {
    const index = this.#order.get(id);
    return index !== undefined && index < this.#size;
  }

  /** Returns this set with another id. */
  with(id: string): SeenIds {
    if (this.has(id)) return this;
    const newest = this.#order.size === this.#size;
    const order = newest && this.#size > 0 ? this.#order : new Map([...this.#order].slice(0, this.#size));
    order.set(id, this.#size);
    return new SeenIds(order, this.#size + 1);
  }
}
