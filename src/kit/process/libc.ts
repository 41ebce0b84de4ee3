import { dlopen } from 'bun:ffi';

/** The functions of the C library that neither Bun nor Node.js offers: glibc's, or musl's where glibc is not present. Linux only. */
export function libc() {
  const open = (name: string) =>
    dlopen(name, {
      sched_setscheduler: { args: ['int', 'int', 'ptr'], returns: 'int' },
      prctl: { args: ['int', 'u64', 'u64', 'u64', 'u64'], returns: 'int' },
    }).symbols;
  try {
    return open('libc.so.6');
  } catch {
    return open(`libc.musl-${process.arch === 'x64' ? 'x86_64' : 'aarch64'}.so.1`);
  }
}
