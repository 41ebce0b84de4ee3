import type { Clock } from '../contract/clock.ts';
import { newId } from '../contract/id.ts';
import type { Metrics } from '../contract/metrics.ts';
import type { UsageStore, UsageWriter } from '../contract/usage.ts';

/** The one writer of usage: names and dates each row, stores it and counts it. */
export function usageLedger(store: UsageStore, clock: Clock, metrics: Metrics): UsageWriter {
  const rows = metrics.counter('usage_rows_total', 'Usage rows written.', ['endpoint', 'status']);
  const characters = metrics.counter('usage_characters_total', 'Characters accepted for synthesis.', [
    'endpoint',
  ]);
  const audio = metrics.counter('usage_audio_seconds_total', 'Seconds of audio made or read.', ['endpoint']);
  return {
    async write(entry) {
      const createdAt = Math.floor(clock.now() / 1000);
      await store.insert({ ...entry, id: newId('usage'), createdAt });
      rows.add({ endpoint: entry.endpoint, status: entry.status });
      characters.add({ endpoint: entry.endpoint }, entry.characters ?? 0);
      audio.add({ endpoint: entry.endpoint }, entry.audioSeconds ?? 0);
    },
  };
}
