const NAME = /^[a-zA-Z0-9._/-]{1,200}$/;
const HIDDEN_PARTS: ReadonlySet<string> = new Set(['', '.', '..']);

/** @throws RangeError for what is no name of a blob: only a fault of ours makes one, and it must not leave the store. */
export function checkBlobName(name: string): void {
  if (!isBlobName(name)) throw new RangeError('a blob cannot be named so');
}

/** Whether a blob may have this name. */
export function isBlobName(name: string): boolean {
  return NAME.test(name) && !name.split('/').some((part) => HIDDEN_PARTS.has(part));
}

/** @throws RangeError for what no name of a blob begins with. */
export function checkBlobPrefix(prefix: string): void {
  checkBlobName(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
}
