/**
 * Replaces the Python process by a program that has escaped from Python and from the confined JavaScript, but is still
 * restricted by the system call filter. `code` names an attempt; its result is sent.
 */

import { dlopen } from 'bun:ffi';
import { readdirSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { type FromPython, lineOf } from '../../src/sandbox/sandbox-protocol.ts';
import { filterSystemCalls } from '../../src/sandbox/syscall-filter.ts';

const send = (message: FromPython) => writeSync(1, lineOf(message));
const { symbols: libc } = dlopen('libc.so.6', {
  open: { args: ['cstring', 'int'], returns: 'int' },
  socket: { args: ['int', 'int', 'int'], returns: 'int' },
  fork: { args: [], returns: 'int' },
  execv: { args: ['cstring', 'ptr'], returns: 'int' },
  kill: { args: ['int', 'int'], returns: 'int' },
  getppid: { args: [], returns: 'int' },
  mkdir: { args: ['cstring', 'int'], returns: 'int' },
  unlink: { args: ['cstring'], returns: 'int' },
  ptrace: { args: ['i64', 'i64', 'i64', 'i64'], returns: 'i64' },
  setuid: { args: ['int'], returns: 'int' },
});
const path = (text: string) => Buffer.from(`${text}\0`);
const parent = process.ppid;

const ATTEMPTS: Readonly<Record<string, () => unknown>> = {
  'read a file': () => readFileSync('/etc/passwd', 'utf8').length,
  'read its own environment': () => readFileSync('/proc/self/environ', 'utf8'),
  'list a folder': () => readdirSync('/').length,
  'write a file': () => writeFileSync('/tmp/escaped', 'x'),
  open: () => libc.open(path('/etc/passwd'), 0),
  socket: () => libc.socket(2, 1, 0),
  'unix socket': () => libc.socket(1, 1, 0),
  fork: () => libc.fork(),
  exec: () => libc.execv(path('/bin/true'), null),
  'signal to the service': () => libc.kill(parent, 0),
  'signal to all': () => libc.kill(-1, 0),
  mkdir: () => libc.mkdir(path('/tmp/escaped'), 0o777),
  unlink: () => libc.unlink(path('/tmp/escaped')),
  ptrace: () => libc.ptrace(16, parent, 0, 0),
  setuid: () => libc.setuid(1),
  'start a program': () => Bun.spawnSync(['/bin/true']).exitCode,
  connect: () => fetch('http://127.0.0.1:1/'),
  'send an unexpected message': () => {
    for (;;) writeSync(1, Buffer.alloc(65_536, 32));
  },
  'send another kind': () => writeSync(1, '{"kind":"ended","result":{}}\n'),
  'send no message': () => writeSync(1, 'hello\n'),
  spin: () => {
    send({ kind: 'output', text: 'spinning' });
    for (;;);
  },
  exit: () => process.exit(0),
  'fill memory': () => {
    const blocks: Uint8Array[] = [];
    for (;;) blocks.push(new Uint8Array(2 ** 24).fill(1));
  },
  'see the environment': () => JSON.stringify(Object.keys(process.env).sort()),
};

if (!filterSystemCalls()) process.exit(1);
send({ kind: 'ready', restored: true });
const bytes = new Uint8Array(65_536);
for (;;) {
  const length = readSync(0, bytes);
  if (length === 0) process.exit(0);
  const { code } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, length)));
  let result: string;
  try {
    result = String(await ATTEMPTS[code]?.());
  } catch (error) {
    result = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
  send({ kind: 'finished', result, truncated: false });
}
