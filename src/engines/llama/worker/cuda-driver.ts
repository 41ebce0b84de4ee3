/**
 * Decides whether the CUDA build of llama.cpp runs on the GPUs of this machine. Without this check, the first kernel aborts the
 * process when the driver cannot compile its code.
 */

import { dlopen } from 'bun:ffi';

export interface CudaDriver {
  /** CUDA version that the driver supports: 1000 × major + 10 × minor. */
  readonly version: number;
  /** Compute capability of each GPU: 10 × major + minor. */
  readonly capabilities: readonly number[];
}

/**
 * Compute capabilities for which the CUDA build of llama.cpp (`gpu/package.json`) has native code. Native code also runs on later
 * capabilities of the same major version (CUDA C++ Programming Guide, "Binary Compatibility").
 */
const NATIVE_CAPABILITIES: readonly number[] = [86, 89, 120, 121];
/** For other GPUs it has PTX for this capability and later ones. */
const MIN_PTX_CAPABILITY = 75;
/** Version 9.1 of PTX, which the drivers of CUDA 13.1 introduced. */
const PTX_DRIVER_VERSION = 13_010;
const PTX_DRIVER_RELEASE = 590;

/** CUdevice_attribute, cuda.h. */
const COMPUTE_CAPABILITY_MAJOR = 75;
const COMPUTE_CAPABILITY_MINOR = 76;

/** @returns why the GPUs cannot run llama.cpp, as a sentence; undefined if they can. */
export function unusableGpu({ version, capabilities }: CudaDriver): string | undefined {
  for (const capability of capabilities) {
    const problem = capabilityProblem(capability, version);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function capabilityProblem(capability: number, version: number): string | undefined {
  const major = Math.floor(capability / 10);
  const isNative = NATIVE_CAPABILITIES.some(
    (native) => Math.floor(native / 10) === major && native <= capability,
  );
  if (isNative) return undefined;
  const name = `${major}.${capability % 10}`;
  if (capability < MIN_PTX_CAPABILITY) {
    return `llama.cpp has no code for GPUs of compute capability ${name}; allowed: 7.5 and later.`;
  }
  if (version >= PTX_DRIVER_VERSION) return undefined;
  return `llama.cpp needs driver ${PTX_DRIVER_RELEASE} or later (CUDA 13.1) on GPUs of compute capability ${name}; this driver supports CUDA ${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}.`;
}

/** @returns undefined without a driver or a GPU, which llama.cpp reports itself. */
export function readCudaDriver(): CudaDriver | undefined {
  let driver: ReturnType<typeof openDriver>;
  try {
    driver = openDriver();
  } catch {
    return undefined;
  }
  const { cuInit, cuDriverGetVersion, cuDeviceGetCount, cuDeviceGetAttribute } = driver.symbols;
  const value = new Int32Array(1);
  const read = (status: number): number | undefined => (status === 0 ? value[0] : undefined);
  if (cuInit(0) !== 0) return undefined;
  const version = read(cuDriverGetVersion(value));
  const count = read(cuDeviceGetCount(value));
  if (version === undefined || count === undefined || count === 0) return undefined;
  const attribute = (device: number, name: number) => read(cuDeviceGetAttribute(value, name, device)) ?? 0;
  const capabilities = Array.from(
    { length: count },
    (_, device) =>
      10 * attribute(device, COMPUTE_CAPABILITY_MAJOR) + attribute(device, COMPUTE_CAPABILITY_MINOR),
  );
  return { version, capabilities };
}

/** Never closed: llama.cpp uses the library as long as the process lives. */
function openDriver() {
  return dlopen('libcuda.so.1', {
    cuInit: { args: ['u32'], returns: 'i32' },
    cuDriverGetVersion: { args: ['ptr'], returns: 'i32' },
    cuDeviceGetCount: { args: ['ptr'], returns: 'i32' },
    cuDeviceGetAttribute: { args: ['ptr', 'i32', 'i32'], returns: 'i32' },
  });
}
