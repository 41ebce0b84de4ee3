/**
 * Makes this child process exit only when its parent closes the IPC channel or exits. Signals are ignored: a
 * signal to the process group must not interrupt work that the parent still drains.
 */
export function exitWithParent(): void {
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('disconnect', () => process.exit(0));
}
