/**
 * Makes this process, a child with an IPC channel, end when its parent says so or is gone, and by nothing else: a
 * signal to the whole group must not cut work that the parent still drains, and without it there is nobody to
 * work for.
 */
export function exitWithParent(): void {
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('disconnect', () => process.exit(0));
}
