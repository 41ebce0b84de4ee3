import type { Id } from '../contract/core/id.ts';
import type { Traceparent } from '../contract/core/tracer.ts';
import { type TranscriptionParams, Turn, type TurnDeps } from './turn.ts';
import type { SegmentedTurn } from './turn-segmenter.ts';

/** The turns of one connection that have not ended. */
export class Turns {
  readonly #deps: TurnDeps;
  readonly #turns = new Map<Id<'item_'>, Turn>();
  /** Trace context of the request that opened the connection. */
  readonly #cause: Traceparent | undefined;

  /** Must be called while that request is handled, so that the traces of turns are linked to it. */
  constructor(deps: TurnDeps) {
    this.#deps = deps;
    this.#cause = deps.tracer.currentTraceparent();
  }

  /** Bytes that are not transcribed yet, of the turns that were neither stopped nor abandoned. */
  get unreadBytes(): number {
    return this.#pending().reduce((sum, { audio }) => sum + audio.unreadBytes, 0);
  }

  /** {@link unreadBytes} of several turns. A single turn does not count: it was the buffer, and so within its limit. */
  get pendingBytes(): number {
    return this.#pending().length <= 1 ? 0 : this.unreadBytes;
  }

  /** Adds a turn. Returns it as it is if it was added before: it keeps the settings of that time. */
  add({ itemId, audio }: SegmentedTurn, params: TranscriptionParams): Turn {
    const known = this.#turns.get(itemId);
    if (known !== undefined) return known;
    const onEnded = () => void this.#turns.delete(itemId);
    const turn = new Turn(this.#deps, { itemId, audio, params, cause: this.#cause, onEnded });
    this.#turns.set(itemId, turn);
    return turn;
  }

  /** Returns a turn that was neither stopped nor abandoned. */
  get(itemId: string): Turn | undefined {
    const turn = this.#turns.get(itemId as Id<'item_'>);
    return turn?.isOver ? undefined : turn;
  }

  /** Stops all turns. Resolves when every engine is released and every usage row is stored. */
  async close(): Promise<void> {
    const turns = [...this.#turns.values()];
    for (const turn of turns) turn.stop();
    await Promise.all(turns.map(({ ended }) => ended));
  }

  #pending(): readonly Turn[] {
    return [...this.#turns.values()].filter(({ isOver }) => !isOver);
  }
}
