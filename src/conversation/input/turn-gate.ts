/** Holds the events of turns that are not accepted yet, and reports the events of all turns in the order of the turns. */

interface GatedTurn<Event> {
  readonly itemId: string;
  isOpen: boolean;
  hasEnded: boolean;
  readonly events: Event[];
}

/** The number of turns is limited by the caller, which ends or drops every turn. */
export class TurnGate<Event> {
  readonly #report: (event: Event) => void;
  /** In the order of their start. */
  #turns: GatedTurn<Event>[] = [];

  constructor(report: (event: Event) => void) {
    this.#report = report;
  }

  /** A turn starts. @param isOpen whether its events may be reported. */
  start(itemId: string, isOpen: boolean): void {
    this.#turns.push({ itemId, isOpen, hasEnded: false, events: [] });
  }

  /** Adds an event. An event of no known turn is reported behind the events of the known ones. */
  add(itemId: string, event: Event): void {
    const turn = this.#find(itemId);
    if (turn === undefined) this.#turns.push({ itemId, isOpen: true, hasEnded: true, events: [event] });
    else turn.events.push(event);
    this.#flush();
  }

  /** The events of the turn may be reported. */
  open(itemId: string): void {
    const turn = this.#find(itemId);
    if (turn !== undefined) turn.isOpen = true;
    this.#flush();
  }

  /** No more events follow. */
  end(itemId: string): void {
    const turn = this.#find(itemId);
    if (turn !== undefined) turn.hasEnded = true;
    this.#flush();
  }

  /** Discards the turn and its events that are not reported yet. */
  drop(itemId: string): void {
    this.#turns = this.#turns.filter((turn) => turn.itemId !== itemId);
    this.#flush();
  }

  #find(itemId: string): GatedTurn<Event> | undefined {
    return this.#turns.find((turn) => turn.itemId === itemId);
  }

  #flush(): void {
    for (let [first] = this.#turns; first?.isOpen; [first] = this.#turns) {
      for (const event of first.events.splice(0)) this.#report(event);
      if (!first.hasEnded) return;
      this.#turns = this.#turns.filter((turn) => turn !== first);
    }
  }
}
