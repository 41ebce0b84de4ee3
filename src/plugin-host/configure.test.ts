import { expect, test } from 'vitest';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { integer, section } from '../config/section.ts';
import type { Slots } from '../contract/plugin.ts';
import { configured } from './configure.ts';
import { definePlugin } from './define-plugin.ts';

const limits = {
  requestBytes: 1,
  speechCharacters: 2,
  speechRequestsPerOrganization: 3,
  uploadsPerOrganization: 4,
};
const config = {
  dataDir: '/data',
  limits: { ...limits, cupsPerOrganization: 5, callsPerOrganization: 6 },
  tea: { maxCups: 7, minCups: 8 },
  redisUrl: 'secret',
};
const integers = { min: 1, default: 1 } as const;
const settings = [
  section('tea', { maxCups: integer('max_cups', integers) }),
  section('limits', { cupsPerOrganization: integer('cups_per_organization', integers) }),
] as const;
const services = { clock: new ManualClock() } as unknown as Slots;

test('a plugin receives its own settings and the shared ones, and no other', async () => {
  let seen: object = {};
  const tea = definePlugin({
    name: 'tea',
    needs: ['clock'],
    settings,
    setup(context) {
      seen = context.settings;
      return {};
    },
  });
  const plugin = configured(tea, config);
  expect(plugin).toMatchObject({ name: 'tea', needs: ['clock'], offers: [], routes: [], tags: [] });
  const instance = await plugin.setup(services);
  expect(seen).toEqual({
    dataDir: '/data',
    limits: { ...limits, cupsPerOrganization: 5 },
    tea: { maxCups: 7 },
  });
  expect(instance).toMatchObject({ provides: {} });
  expect(instance.ready()).toEqual({ ready: true });
});

test('what a plugin registers is drained and closed with it', async () => {
  const events: string[] = [];
  const tea = definePlugin({
    name: 'tea',
    needs: [],
    offers: ['clock'],
    setup({ lifecycle }) {
      lifecycle.drains({
        drain: async () => void events.push('drain'),
        close: async () => void events.push('close'),
      });
      return {
        provides: { clock: services.clock },
        ready: () => ({ ready: false, detail: 'no water' }),
      };
    },
  });
  const instance = await configured(tea, config).setup(services);
  expect(instance.provides.clock).toBe(services.clock);
  expect(instance.ready()).toEqual({ ready: false, detail: 'no water' });
  await instance.drain(new AbortController().signal);
  await instance.close();
  expect(events).toEqual(['drain', 'close']);
});

test('a failed setup closes what it has opened', async () => {
  const events: string[] = [];
  const tea = definePlugin({
    name: 'tea',
    needs: [],
    setup({ lifecycle }) {
      lifecycle.closes({ close: async () => void events.push('close') });
      throw new Error('no water');
    },
  });
  await expect(configured(tea, config).setup(services)).rejects.toThrow('no water');
  expect(events).toEqual(['close']);
});
