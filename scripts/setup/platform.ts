import { readFileSync } from 'node:fs';

/** A machine, in the terms of `process.platform` and `process.arch`. */
export interface Platform {
  readonly os: string;
  readonly cpu: string;
  /** Whether the C library is musl (Alpine Linux). */
  readonly isMusl: boolean;
}

/** Operating system and processor of the platforms for which all native packages have builds. */
const SUPPORTED: ReadonlySet<string> = new Set(['linux-x64', 'linux-arm64', 'darwin-arm64']);

/** The platform of this process. */
export function currentPlatform(): Platform {
  const { platform: os, arch: cpu } = process;
  // The memory map names the dynamic linker that runs this process.
  const isMusl = os === 'linux' && readFileSync('/proc/self/maps', 'latin1').includes('/ld-musl-');
  return { os, cpu, isMusl };
}

/** One line for the user of a machine without builds of the native packages; undefined if the machine is supported. */
export function unsupportedPlatform({ os, cpu, isMusl }: Platform): string | undefined {
  if (SUPPORTED.has(`${os}-${cpu}`) && !isMusl) return undefined;
  const name = `${os}-${cpu}${isMusl ? ' with musl' : ''}`;
  return `This platform is not supported: ${name}. Use Linux with glibc on x64 or arm64, or macOS on arm64; elsewhere, run the container image (docs/guide/containers.md).`;
}
