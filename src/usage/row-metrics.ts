import type { UsageRecord } from '../contract/accounts/usage.ts';
import type { Metrics } from '../contract/core/metrics.ts';

/** Counts written usage rows. */
export interface RowMetrics {
  add(row: UsageRecord): void;
}

export function rowMetrics(metrics: Metrics): RowMetrics {
  const rows = metrics.counter('usage_rows_total', 'Usage rows written.', ['endpoint', 'status']);
  const characters = metrics.counter('usage_characters_total', 'Characters accepted for synthesis.', [
    'endpoint',
  ]);
  const audio = metrics.counter('usage_audio_seconds_total', 'Seconds of audio generated or transcribed.', [
    'endpoint',
  ]);
  const tokens = metrics.counter('usage_tokens_total', 'Tokens of usage rows.', [
    'endpoint',
    'model',
    'direction',
  ]);
  return {
    add(row) {
      const { endpoint, model, inputTokens, outputTokens } = row;
      rows.add({ endpoint, status: row.status });
      characters.add({ endpoint }, row.characters ?? 0);
      audio.add({ endpoint }, row.audioSeconds ?? 0);
      tokens.add({ endpoint, model, direction: 'input' }, inputTokens);
      tokens.add({ endpoint, model, direction: 'output' }, outputTokens);
    },
  };
}
