/**
 * A script for `sh -c` that runs the command of its arguments until its standard input is closed, at the latest when the process
 * that started it exits, even after a crash. Ends with the command.
 * @param signal ends the command.
 */
export function runWithParent(signal: 'TERM' | 'INT' | 'KILL'): string {
  return [
    'exec 3<&0',
    // Of the output, only the command keeps the pipes open, so that a reader sees the end of a command that fails.
    '"$0" "$@" 3<&- & server=$!',
    `(read -r _ <&3; kill -${signal} $server) >/dev/null 2>&1 & reader=$!`,
    'wait $server 2>/dev/null; code=$?',
    'kill $reader 2>/dev/null',
    'exit $code',
  ].join('\n');
}
