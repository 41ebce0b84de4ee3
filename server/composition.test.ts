import { describe, expect, test } from 'vitest';
import { Composition } from './composition.ts';

/** Two services on a seed, which record what happens to them. @param fails names of services that fail. */
function composed(events: string[], fails: readonly string[] = []) {
  const record = (event: string) => {
    events.push(event);
    if (fails.includes(event)) throw new Error(event);
  };
  return new Composition<{ readonly size: number }>()
    .with({
      name: 'kettle',
      open({ size }) {
        record('open kettle');
        return size * 2;
      },
      close: (litres) => record(`close kettle ${litres}`),
    })
    .with({
      name: 'tea',
      async open({ kettle }) {
        record('open tea');
        return `${kettle} litres`;
      },
      close: async (tea) => record(`close tea ${tea}`),
    })
    .with({ name: 'table', open: ({ kettle, tea }) => `${kettle}, ${tea}` });
}

describe('services', () => {
  test('are opened in order, each with those before it, and closed in reverse order', async () => {
    const events: string[] = [];
    const { services, close } = await composed(events).open({ size: 2 });
    expect(services).toEqual({ size: 2, kettle: 4, tea: '4 litres', table: '4, 4 litres' });
    await close();
    expect(events).toEqual(['open kettle', 'open tea', 'close tea 4 litres', 'close kettle 4']);
  });

  test('that are open are closed if a later one fails, whose error is thrown', async () => {
    const events: string[] = [];
    await expect(composed(events, ['open tea']).open({ size: 1 })).rejects.toThrow('open tea');
    expect(events).toEqual(['open kettle', 'open tea', 'close kettle 2']);
  });

  test('are all closed if one of them fails to', async () => {
    const events: string[] = [];
    const { close } = await composed(events, ['close tea 4 litres']).open({ size: 2 });
    await expect(close()).rejects.toThrow('close tea');
    expect(events.at(-1)).toBe('close kettle 4');
  });
});
