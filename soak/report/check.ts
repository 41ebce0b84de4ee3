/** A guarantee of the service and the result of its check. */
export interface Check {
  readonly guarantee: string;
  /** Number of items that were checked. */
  readonly checked: number;
  /** One line per violation. */
  readonly violations: readonly string[];
}
