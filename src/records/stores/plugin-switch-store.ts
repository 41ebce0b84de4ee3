import type { Clock } from '../../contract/core/clock.ts';
import type { PluginSwitchStore } from '../../contract/stores/plugin-switch-store.ts';
import { unixSeconds } from '../../kit/clock.ts';
import type { Records } from '../schema/records.ts';

/** Desired states of plugins. The caller closes `records`. */
export function pluginSwitchStore({ db, read }: Records, clock: Clock): PluginSwitchStore {
  const all = db
    .selectFrom('plugin_switches')
    .select(['name', 'enabled', 'revision', 'changed_at as changedAt'])
    .compile();
  return {
    async list() {
      const rows = await read(all);
      return new Map(
        rows.map(({ name, enabled, revision, changedAt }) => [
          name,
          { enabled: enabled === 1, revision, changedAt },
        ]),
      );
    },

    async setEnabled(name, isEnabled) {
      const desired = { enabled: isEnabled ? 1 : 0, changed_at: unixSeconds(clock) };
      await db
        .insertInto('plugin_switches')
        .values({ name, revision: 1, ...desired })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet(({ eb, ref }) => ({
            ...desired,
            revision: eb(ref('plugin_switches.revision'), '+', 1),
          })),
        )
        .execute();
    },
  };
}
