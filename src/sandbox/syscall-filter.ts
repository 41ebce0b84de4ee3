/**
 * Irreversibly blocks every system call of this process that computations do not need: opening files, sockets, starting
 * programs, signals to other processes. Uses seccomp(2) of Linux with a classic BPF program (seccomp.h, filter.h,
 * bpf_common.h). It is the last line of defense if code escapes from Python and from the confined JavaScript.
 */

import { dlopen, type Pointer, ptr } from 'bun:ffi';

/** Constants of a CPU architecture: its audit id and system call numbers. */
interface Architecture {
  readonly audit: number;
  readonly seccomp: number;
  readonly clone: number;
  readonly tgkill: number;
  readonly allowed: readonly number[];
}

/** Newer system calls have the same number on all architectures. */
const CLONE3 = 435;
const EPOLL_PWAIT2 = 441;

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000_003e,
    seccomp: 317,
    clone: 56,
    tgkill: 234,
    allowed: [
      // read write close fstat poll lseek mmap mprotect munmap brk
      0, 1, 3, 5, 7, 8, 9, 10, 11, 12,
      // rt_sigaction rt_sigprocmask rt_sigreturn readv writev sched_yield mremap madvise nanosleep getpid
      13, 14, 15, 19, 20, 24, 25, 28, 35, 39,
      // exit fcntl gettimeofday getrusage rt_sigtimedwait rt_sigsuspend sigaltstack gettid futex
      60, 72, 96, 98, 128, 130, 131, 186, 202,
      // sched_getaffinity restart_syscall clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl
      204,
      219, 228, 229, 230, 231, 232, 233,
      // ppoll set_robust_list epoll_pwait timerfd_settime timerfd_gettime getrandom membarrier rseq
      271, 273, 281, 286, 287, 318, 324, 334,
    ],
  },
  arm64: {
    audit: 0xc000_00b7,
    seccomp: 277,
    clone: 220,
    tgkill: 131,
    allowed: [
      // read write close fstat lseek mmap mprotect munmap brk
      63, 64, 57, 80, 62, 222, 226, 215, 214,
      // rt_sigaction rt_sigprocmask rt_sigreturn readv writev sched_yield mremap madvise nanosleep getpid
      134, 135, 139, 65, 66, 124, 216, 233, 101, 172,
      // exit fcntl gettimeofday getrusage rt_sigtimedwait rt_sigsuspend sigaltstack gettid futex
      93, 25, 169, 165, 137, 133, 132, 178, 98,
      // sched_getaffinity restart_syscall clock_gettime clock_getres clock_nanosleep exit_group epoll_ctl
      123, 128, 113, 114, 115, 94, 21,
      // ppoll set_robust_list epoll_pwait timerfd_settime timerfd_gettime getrandom membarrier rseq
      73, 99, 22, 86, 87, 278, 283, 293,
    ],
  },
};

/** A BPF instruction: opcode, jump offset if true, jump offset if false, operand. */
type Instruction = readonly [code: number, yes: number, no: number, operand: number];

const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_BITS = 0x45;
const RETURN = 0x06;

/** Offsets in `struct seccomp_data`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const RETURN_ERRNO = 0x0005_0000;
const EPERM = 1;
const ENOSYS = 38;
const CLONE_THREAD = 0x1_0000;

const returns = (what: number): Instruction => [RETURN, 0, 0, what];
const load = (offset: number): Instruction => [LOAD_WORD, 0, 0, offset];
/** Skips `skipped` instructions unless the loaded word equals `number`. */
const unless = (number: number, skipped: number): Instruction => [JUMP_IF_EQUAL, 0, skipped, number];

/** @param pid id of this process, the only one to which it may send signals (between threads of the runtime). */
function filterOf({ audit, clone, tgkill, allowed }: Architecture, pid: number): readonly Instruction[] {
  const rejectCall = returns(RETURN_ERRNO | EPERM);
  return [
    load(ARCHITECTURE),
    [JUMP_IF_EQUAL, 1, 0, audit],
    returns(KILL),
    load(NUMBER),
    ...[...allowed, EPOLL_PWAIT2].flatMap((number) => [unless(number, 1), returns(ALLOW)]),
    // clone is allowed for threads, but not for processes.
    unless(clone, 4),
    load(FIRST_ARGUMENT),
    [JUMP_IF_BITS, 0, 1, CLONE_THREAD],
    returns(ALLOW),
    rejectCall,
    // With ENOSYS the C library falls back to clone, whose flags a filter can check.
    unless(CLONE3, 1),
    returns(RETURN_ERRNO | ENOSYS),
    unless(tgkill, 4),
    load(FIRST_ARGUMENT),
    unless(pid, 1),
    returns(ALLOW),
    rejectCall,
    rejectCall,
  ];
}

/** The filter as `struct sock_filter[]`. Both architectures are little-endian. */
function bytesOf(filter: readonly Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(filter.length * 8));
  for (const [index, [code, yes, no, operand]] of filter.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, yes);
    view.setUint8(index * 8 + 3, no);
    view.setUint32(index * 8 + 4, operand, true);
  }
  return new Uint8Array(view.buffer);
}

const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1;
/** Applies the filter to all threads of the process. */
const SECCOMP_FILTER_FLAG_TSYNC = 1;

interface LibC {
  prctl(option: number, a: number, b: number, c: number, d: number): number;
  syscall(number: number, operation: number, flags: number, program: Pointer): number | bigint;
}

/** The C library of this process: glibc or musl. */
function libc(): LibC {
  const open = (name: string) =>
    dlopen(name, {
      prctl: { args: ['int', 'u64', 'u64', 'u64', 'u64'], returns: 'int' },
      syscall: { args: ['i64', 'u64', 'u64', 'ptr'], returns: 'i64' },
    }).symbols;
  try {
    return open('libc.so.6');
  } catch {
    return open(`libc.musl-${process.arch === 'x64' ? 'x86_64' : 'aarch64'}.so.1`);
  }
}

/**
 * Installs the filter, irreversibly.
 * @returns false if the platform is not supported (only Linux on x64 and arm64 is).
 * @throws Error if Linux rejects the filter.
 */
export function filterSystemCalls(): boolean {
  const architecture = ARCHITECTURES[process.arch];
  if (process.platform !== 'linux' || architecture === undefined) return false;
  const { prctl, syscall } = libc();
  const filter = filterOf(architecture, process.pid);
  const instructions = bytesOf(filter);
  // `struct sock_fprog`: a length and, after padding, a pointer.
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, filter.length, true);
  program.setBigUint64(8, BigInt(ptr(instructions)), true);
  const isInstalled =
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) === 0 &&
    Number(
      syscall(architecture.seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, ptr(program.buffer)),
    ) === 0;
  if (!isInstalled) throw new Error('seccomp rejected the filter');
  return true;
}
