/**
 * Lifetime of an object URL after its last use in ms: browsers may start reading some time after a click, and a media element
 * that was removed still completes its requests.
 */
const LIFETIME_MS = 40_000;

/** Revokes an object URL when the browser does not read it any more. */
export function revokeLater(address: string): void {
  setTimeout(() => URL.revokeObjectURL(address), LIFETIME_MS);
}
