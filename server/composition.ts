/** A part of the process that is opened at its start and closed at its end. */
export interface NamedService<Name extends string, Before, Value> {
  readonly name: Name;
  /** @param before the services that were opened before, by name. */
  open(before: Before): Value | Promise<Value>;
  /** Absent: nothing to close. */
  close?(value: Value): void | Promise<void>;
}

/** Opened services by name. */
export interface Opened<Services> {
  readonly services: Services;
  /** Closes them in reverse order. If one fails, the others are closed before the error is thrown. */
  close(): Promise<void>;
}

interface AnyService {
  readonly name: string;
  open(before: never): unknown;
  close?(value: never): void | Promise<void>;
}

/** A list of services, each of which can use those before it. The types check the order. */
export class Composition<Seed extends object, Services extends Seed = Seed> {
  readonly #list: readonly AnyService[];

  constructor(list: readonly AnyService[] = []) {
    this.#list = list;
  }

  /** A list with one more service. */
  with<Name extends string, Value>(
    service: NamedService<Name, Services, Value>,
  ): Composition<Seed, Services & { readonly [Key in Name]: Value }> {
    return new Composition([...this.#list, service]);
  }

  /**
   * Opens the services in order.
   * @throws the error of a service that cannot be opened, after those before it are closed.
   */
  async open(seed: Seed): Promise<Opened<Services>> {
    const stack = new AsyncDisposableStack();
    const services: Record<string, unknown> = Object.fromEntries(Object.entries(seed));
    try {
      for (const { name, open, close } of this.#list) {
        // The services before it have the types that `with` checked.
        const value = await open(services as never);
        if (close !== undefined) stack.defer(() => close(value as never));
        services[name] = value;
      }
    } catch (error) {
      await stack.disposeAsync();
      throw error;
    }
    return { services: services as Services, close: () => stack.disposeAsync() };
  }
}
