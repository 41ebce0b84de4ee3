/** A proxy of an object with some methods replaced. */
export function withMethods<Target extends object>(target: Target, methods: Partial<Target>): Target {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(Object.hasOwn(methods, name) ? methods : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
