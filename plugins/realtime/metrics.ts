/** Metrics of realtime connections, derived from the events that they send. */

import type { Clock } from '../../src/contract/core/clock.ts';
import type { Metrics } from '../../src/contract/core/metrics.ts';
import type { WireEvent } from './protocol/server-events.ts';

const TRANSCRIPT_SECONDS = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8];
/** The alert on slow turns compares with 2 s. */
const STAGE_SECONDS = [0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];
const FIRST_AUDIO_SECONDS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.1, 3.4];

/** Counters and histograms shared by all connections. */
export type RealtimeMetrics = ReturnType<typeof realtimeMetrics>;

export function realtimeMetrics(metrics: Metrics) {
  return {
    errors: metrics.counter('realtime_errors_total', 'Error events sent.', ['code']),
    turns: metrics.counter(
      'realtime_turns_total',
      'Completed and failed transcriptions of committed turns.',
      ['status'],
    ),
    responses: metrics.counter('realtime_responses_total', 'Finished responses.', ['status']),
    transcript: metrics.histogram(
      'realtime_transcript_seconds',
      'Time from a commit to the end of its transcription.',
      [],
      TRANSCRIPT_SECONDS,
    ),
    firstAudio: metrics.histogram(
      'realtime_first_audio_seconds',
      'Time from response.created to the first audio.',
      [],
      FIRST_AUDIO_SECONDS,
    ),
    conversationStage: metrics.histogram(
      'conversation_stage_seconds',
      "Time from the end of the user's speech to a stage of the response.",
      ['model', 'stage'],
      STAGE_SECONDS,
    ),
  };
}

/** Records the metrics of one connection. */
export class ConnectionMetrics {
  readonly #metrics: RealtimeMetrics;
  readonly #clock: Clock;
  readonly #committedMs = new Map<string, number>();
  /** Creation time of the response that has no audio yet. */
  #createdMs: number | undefined;

  constructor(metrics: RealtimeMetrics, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  /** @param sent an event that is being sent, of a session or a conversation. */
  recordSent(sent: { readonly type: string }): void {
    // Both kinds of sessions have the fields that are read here.
    const event = sent as WireEvent;
    switch (event.type) {
      case 'error':
        this.#metrics.errors.add({ code: event.error.code });
        break;
      case 'input_audio_buffer.committed':
        this.#committedMs.set(event.item_id, this.#clock.monotonicMs());
        break;
      case 'conversation.item.input_audio_transcription.completed':
        this.#recordTurn(event.item_id, 'completed');
        break;
      case 'conversation.item.input_audio_transcription.failed':
        this.#recordTurn(event.item_id, 'failed');
        break;
      case 'response.created':
        this.#createdMs = this.#clock.monotonicMs();
        break;
      case 'response.audio.delta':
      case 'response.output_audio.delta':
        this.#recordAudio();
        break;
      case 'response.done':
        this.#createdMs = undefined;
        this.#metrics.responses.add({ status: event.response.status });
        break;
      default:
    }
  }

  #recordTurn(itemId: string, status: string): void {
    const committedMs = this.#committedMs.get(itemId);
    this.#committedMs.delete(itemId);
    this.#metrics.turns.add({ status });
    if (committedMs !== undefined) {
      this.#metrics.transcript.observe({}, (this.#clock.monotonicMs() - committedMs) / 1000);
    }
  }

  #recordAudio(): void {
    if (this.#createdMs === undefined) return;
    this.#metrics.firstAudio.observe({}, (this.#clock.monotonicMs() - this.#createdMs) / 1000);
    this.#createdMs = undefined;
  }
}
