/** Measures the stages of each turn, from the end of the user's speech to the first audio of the response. */

import type { Clock } from '../contract/core/clock.ts';
import type { Span, SpanAttributes, Tracer } from '../contract/core/tracer.ts';
import type { ConversationEvent } from './events/server-events.ts';

export const TURN_STAGES = ['turn_decision', 'transcript', 'first_token', 'first_audio'] as const;
export type TurnStage = (typeof TURN_STAGES)[number];

/** Time of each stage in ms after the end of the user's speech. A prepared reply can start before the turn is over. */
export type TurnTiming = { readonly [Stage in TurnStage]?: number };

/** Turns that are retained until their response starts. Turns without a response are removed oldest first. */
const MAX_TURNS = 16;

export interface TurnTimingsOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly tracer: Tracer;
  /** Attributes of all spans. */
  readonly attributes: SpanAttributes;
  /** Called once per turn, when its response ends. */
  readonly onTurn: (timing: TurnTiming) => void;
}

interface MeasuredTurn {
  readonly itemId: string;
  readonly speechEndMs: number;
  readonly span: Span;
  readonly timing: { [Stage in TurnStage]?: number };
}

export class TurnTimings {
  readonly #options: TurnTimingsOptions;
  /** Turns without a response, by item. */
  readonly #turns = new Map<string, MeasuredTurn>();
  /** Turns with a response in progress, by response. */
  readonly #answered = new Map<string, MeasuredTurn>();
  /** Item of the last committed turn without a response. */
  #committed: string | undefined;
  /** Cause of the spans. */
  readonly #cause: string | undefined;

  constructor(options: TurnTimingsOptions) {
    this.#options = options;
    this.#cause = options.tracer.currentTraceparent();
  }

  /** The turn of an item is over. @param speechEndMs monotonic time of the end of its speech. */
  endTurn(itemId: string, speechEndMs: number): void {
    const { tracer, attributes } = this.#options;
    this.#turns.get(itemId)?.span.end();
    const span = tracer.startSpan('conversation_turn', { parent: 'none', cause: this.#cause, attributes });
    const turn: MeasuredTurn = { itemId, speechEndMs, span, timing: {} };
    this.#turns.set(itemId, turn);
    this.#record(turn, 'turn_decision');
    for (const [oldest, { span: unused }] of this.#turns) {
      if (this.#turns.size <= MAX_TURNS) break;
      unused.end();
      this.#turns.delete(oldest);
    }
  }

  /**
   * Takes note of an event that is being sent.
   * @returns the timing of the turn whose response ends with the event.
   */
  observe(event: ConversationEvent): TurnTiming | undefined {
    switch (event.type) {
      case 'input_audio_buffer.committed':
        this.#committed = event.item_id;
        return undefined;
      case 'conversation.item.input_audio_transcription.completed': {
        const { item_id: itemId } = event;
        const turn =
          this.#turns.get(itemId) ?? this.#answered.values().find((answered) => answered.itemId === itemId);
        if (turn !== undefined) this.#record(turn, 'transcript');
        return undefined;
      }
      case 'response.created':
        if (event.response.conversation_id !== null) this.#answer(event.response.id);
        return undefined;
      case 'response.done':
        return this.#end(event.response.id, event.response.status);
      default:
        return undefined;
    }
  }

  /** @param atMs monotonic time of the first token of a response. */
  receiveToken(responseId: string, atMs: number): void {
    const turn = this.#answered.get(responseId);
    if (turn !== undefined) this.#record(turn, 'first_token', atMs);
  }

  /** Audio of a response is sent. */
  sendAudio(responseId: string): void {
    const turn = this.#answered.get(responseId);
    if (turn !== undefined) this.#record(turn, 'first_audio');
  }

  /** Ends all spans. */
  close(): void {
    for (const turns of [this.#turns, this.#answered]) {
      for (const { span } of turns.values()) span.end();
      turns.clear();
    }
  }

  #answer(responseId: string): void {
    const itemId = this.#committed;
    const turn = itemId === undefined ? undefined : this.#turns.get(itemId);
    this.#committed = undefined;
    if (itemId === undefined || turn === undefined) return;
    this.#turns.delete(itemId);
    this.#answered.set(responseId, turn);
  }

  #end(responseId: string, status: string): TurnTiming | undefined {
    const turn = this.#answered.get(responseId);
    if (turn === undefined) return undefined;
    this.#answered.delete(responseId);
    turn.span.set({ status });
    turn.span.end();
    this.#options.onTurn(turn.timing);
    return turn.timing;
  }

  #record({ speechEndMs, span, timing }: MeasuredTurn, stage: TurnStage, atMs?: number): void {
    if (timing[stage] !== undefined) return;
    const { clock, tracer } = this.#options;
    const reachedMs = Math.max(speechEndMs, atMs ?? clock.monotonicMs());
    timing[stage] = Math.round(reachedMs - speechEndMs);
    const attributes = { ...this.#options.attributes, stage };
    tracer.recordSpan('conversation_stage', { parent: span.traceparent, attributes }, speechEndMs, reachedMs);
  }
}
