/** Notifies subscribers of changes of a mutable object, in the form that React's `useSyncExternalStore` requires. */
export class ChangeNotifier {
  readonly #listeners = new Set<() => void>();
  #version = 0;

  /** @returns a function that removes the listener. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Increases with every change. */
  readonly version = (): number => this.#version;

  notify(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
