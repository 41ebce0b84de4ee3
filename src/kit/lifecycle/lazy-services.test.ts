import { describe, expect, it } from 'vitest';
import type { Slots } from '../../contract/plugin.ts';
import { combineProviders, LazyServices, type ServiceHandle, serviceHandle } from './lazy-services.ts';

type SlotName = keyof Slots;

const needs = (...names: SlotName[]): ReadonlySet<SlotName> => new Set(names);

/** Opens things that note what happens to them. */
function noting(events: string[]) {
  return <Name extends SlotName>(name: Name, fault?: { readonly open?: Error; readonly close?: Error }) =>
    async (): Promise<ServiceHandle<Slots[Name]>> => {
      if (fault?.open) throw fault.open;
      events.push(`open ${name}`);
      return {
        value: { name } as unknown as Slots[Name],
        async close() {
          events.push(`close ${name}`);
          if (fault?.close) throw fault.close;
        },
      };
    };
}

describe('slots that are opened one by one', () => {
  it('are those that are needed: what stays is not touched, the rest closed in reverse and opened in order', async () => {
    const events: string[] = [];
    const open = noting(events);
    const parts = new LazyServices({ tts: open('tts'), stt: open('stt'), vad: open('vad') });
    expect([...parts.slotNames]).toEqual(['tts', 'stt', 'vad']);
    const first = await parts.provide(needs('stt', 'tts', 'log'));
    expect(Object.keys(first)).toEqual(['tts', 'stt']);
    const second = await parts.provide(needs('tts', 'vad'));
    expect(Object.keys(second)).toEqual(['tts', 'vad']);
    expect(second.tts).toBe(first.tts);
    await parts.close();
    await parts.close();
    expect(events).toEqual([...['open tts', 'open stt', 'close stt', 'open vad', 'close vad', 'close tts']]);
  });

  it('are left as they were when one cannot be opened', async () => {
    const events: string[] = [];
    const open = noting(events);
    const parts = new LazyServices({ tts: open('tts'), stt: open('stt', { open: new Error('missing') }) });
    await expect(parts.provide(needs('tts', 'stt'))).rejects.toThrow('missing');
    expect(Object.keys(await parts.provide(needs('tts')))).toEqual(['tts']);
    await parts.close();
    expect(events).toEqual(['open tts', 'close tts']);
  });

  it('are all closed, one that cannot be too', async () => {
    const events: string[] = [];
    const open = noting(events);
    const parts = new LazyServices({ tts: open('tts'), stt: open('stt', { close: new Error('stuck') }) });
    await parts.provide(needs('tts', 'stt'));
    await expect(parts.close()).rejects.toThrow('stuck');
    expect(events).toEqual(['open tts', 'open stt', 'close stt', 'close tts']);
    await parts.close();
  });

  it('are closed when they come after the end', async () => {
    const events: string[] = [];
    const gate = Promise.withResolvers<void>();
    const open = noting(events)('tts');
    const parts = new LazyServices({ tts: () => gate.promise.then(open) });
    const providing = parts.provide(needs('tts'));
    const outcome = expect(providing).rejects.toMatchObject({ kind: 'overloaded' });
    await parts.close();
    gate.resolve();
    await outcome;
    expect(events).toEqual(['open tts', 'close tts']);
  });
});

it('several are one', async () => {
  const events: string[] = [];
  const open = noting(events);
  const parts = combineProviders([
    new LazyServices({ tts: open('tts'), stt: open('stt') }),
    new LazyServices({ stt: open('stt') }),
  ]);
  expect([...parts.slotNames]).toEqual(['tts', 'stt']);
  expect(Object.keys(await parts.provide(needs('tts')))).toEqual(['tts']);
  await parts.close();
  expect(events).toEqual(['open tts', 'close tts']);
});

it('a part closes itself, or there is nothing to close', async () => {
  let closed = 0;
  const closing = {
    async close() {
      closed += 1;
    },
  };
  await serviceHandle(closing).close();
  await serviceHandle({}).close();
  expect(closed).toBe(1);
});
