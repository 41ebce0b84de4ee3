const NAME = /^[a-zA-Z0-9._/-]{1,200}$/;
const HIDDEN_PARTS: ReadonlySet<string> = new Set(['', '.', '..']);

/** @throws RangeError for an invalid blob name, which only a bug can produce and which could point outside the store. */
export function checkBlobName(name: string): void {
  if (!isBlobName(name)) throw new RangeError('invalid blob name');
}

/** Whether a blob name is valid. */
export function isBlobName(name: string): boolean {
  return NAME.test(name) && !name.split('/').some((part) => HIDDEN_PARTS.has(part));
}

/** @throws RangeError for a prefix that no valid blob name has. */
export function checkBlobPrefix(prefix: string): void {
  checkBlobName(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
}
