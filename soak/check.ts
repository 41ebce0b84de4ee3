/** One promise of the service, and what was found of it. */
export interface Check {
  readonly promise: string;
  /** How many things it was looked at on. */
  readonly looked: number;
  /** A line for each where it was broken. */
  readonly faults: readonly string[];
}
