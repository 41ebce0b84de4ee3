import { expect, it } from 'vitest';
import { createMetrics } from '../../src/metrics/registry.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { ConnectionMetrics, realtimeMetrics } from './metrics.ts';
import type { WireEvent } from './protocol/server-events.ts';

const ids = { response_id: 'resp_1', item_id: 'item_2', output_index: 0, content_index: 0 } as const;

it('counts results by status, and measures turns and first audio', async () => {
  const clock = new ManualClock();
  const metrics = createMetrics(clock);
  const timing = new ConnectionMetrics(realtimeMetrics(metrics), clock);
  const sent = (event: object) => timing.recordSent(event as WireEvent);

  sent({ type: 'input_audio_buffer.committed', item_id: 'item_1', previous_item_id: null });
  clock.advance(300);
  sent({ type: 'conversation.item.input_audio_transcription.completed', item_id: 'item_1' });
  sent({ type: 'conversation.item.input_audio_transcription.failed', item_id: 'item_9' });
  for (const name of ['audio', 'output_audio']) {
    sent({ type: 'response.created' });
    clock.advance(150);
    sent({ type: `response.${name}.delta`, ...ids, delta: 'AAAA' });
    clock.advance(1000);
    sent({ type: `response.${name}.delta`, ...ids, delta: 'AAAA' });
    sent({ type: 'response.done', response: { status: 'cancelled' } });
  }
  sent({ type: 'error', error: { code: 'buffer_overflow' } });

  const text = await metrics.render();
  metrics.close();
  expect(text).toContain('realtime_turns_total{status="completed"} 1');
  expect(text).toContain('realtime_turns_total{status="failed"} 1');
  expect(text).toContain('realtime_transcript_seconds_sum 0.3');
  expect(text).toContain('realtime_transcript_seconds_count 1');
  expect(text).toContain('realtime_first_audio_seconds_sum 0.3');
  expect(text).toContain('realtime_first_audio_seconds_count 2');
  expect(text).toContain('realtime_responses_total{status="cancelled"} 2');
  expect(text).toContain('realtime_errors_total{code="buffer_overflow"} 1');
});
