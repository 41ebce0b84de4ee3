import { describe, expect, it } from 'vitest';
import type { Slots } from '../../contract/plugin.ts';
import { combineProviders, LazyServices, type ServiceHandle, serviceHandle } from './lazy-services.ts';

type SlotName = keyof Slots;

const needs = (...names: SlotName[]): ReadonlySet<SlotName> => new Set(names);

/** Factories of services that record their opening and closing. */
function recording(events: string[]) {
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

describe('LazyServices', () => {
  it('opens needed services in order, closes others in reverse order, and keeps the rest', async () => {
    const events: string[] = [];
    const open = recording(events);
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

  it('keeps open services when another one fails to open', async () => {
    const events: string[] = [];
    const open = recording(events);
    const parts = new LazyServices({ tts: open('tts'), stt: open('stt', { open: new Error('missing') }) });
    await expect(parts.provide(needs('tts', 'stt'))).rejects.toThrow('missing');
    expect(Object.keys(await parts.provide(needs('tts')))).toEqual(['tts']);
    await parts.close();
    expect(events).toEqual(['open tts', 'close tts']);
  });

  it('closes all services even if one fails to close', async () => {
    const events: string[] = [];
    const open = recording(events);
    const parts = new LazyServices({ tts: open('tts'), stt: open('stt', { close: new Error('stuck') }) });
    await parts.provide(needs('tts', 'stt'));
    await expect(parts.close()).rejects.toThrow('stuck');
    expect(events).toEqual(['open tts', 'open stt', 'close stt', 'close tts']);
    await parts.close();
  });

  it('closes a service that is opened after close', async () => {
    const events: string[] = [];
    const gate = Promise.withResolvers<void>();
    const open = recording(events)('tts');
    const parts = new LazyServices({ tts: () => gate.promise.then(open) });
    const providing = parts.provide(needs('tts'));
    const outcome = expect(providing).rejects.toMatchObject({ kind: 'overloaded' });
    await parts.close();
    gate.resolve();
    await outcome;
    expect(events).toEqual(['open tts', 'close tts']);
  });
});

it('combineProviders merges providers; the later one wins', async () => {
  const events: string[] = [];
  const open = recording(events);
  const parts = combineProviders([
    new LazyServices({ tts: open('tts'), stt: open('stt') }),
    new LazyServices({ stt: open('stt') }),
  ]);
  expect([...parts.slotNames]).toEqual(['tts', 'stt']);
  expect(Object.keys(await parts.provide(needs('tts')))).toEqual(['tts']);
  await parts.close();
  expect(events).toEqual(['open tts', 'close tts']);
});

it('serviceHandle closes a service that has a close method', async () => {
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
