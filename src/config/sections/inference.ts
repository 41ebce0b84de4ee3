import { availableParallelism } from 'node:os';
import type { InferenceSettings, OrtProvider } from '../../contract/core/settings.ts';
import { integer, section, type ValuesOf } from '../section.ts';
import { choiceVariable, type Environment } from '../variable.ts';

export const PROVIDER = choiceVariable('ORT_PROVIDER', {
  values: ['cpu', 'cuda'] satisfies readonly OrtProvider[],
  default: 'cpu',
  meaning: '`cpu` or `cuda`: ONNX Runtime provider for embedded models',
});

export const INFERENCE = section('inference', {
  workers: integer('workers', {
    min: 1,
    max: 64,
    default: () => Math.max(1, Math.floor(availableParallelism() / 4)),
    example: 1,
    doc: 'processes that run models; default: one per four cores',
  }),
  threads: integer('threads', {
    min: 1,
    max: 256,
    default: undefined,
    example: 2,
    doc: 'threads per process; default: cores divided by workers, at most 4',
  }),
  queueLimit: integer('queue_limit', {
    min: 1,
    max: 100_000,
    default: 256,
    doc: 'open requests to embedded models per priority; further requests get 503',
  }),
  modelIdleS: integer('model_idle_seconds', {
    min: 0,
    max: 604_800,
    default: 1800,
    doc: 'idle time after which a language model above 256 MB is unloaded; 0: never',
  }),
});

/** Settings of the processes that run models. */
export function inferenceSettings(
  { workers, threads, queueLimit, modelIdleS }: ValuesOf<typeof INFERENCE.settings>,
  environment: Environment,
) {
  const inference: InferenceSettings = {
    provider: PROVIDER.read(environment),
    workers,
    threads: threads ?? Math.min(4, Math.max(1, Math.floor(availableParallelism() / workers))),
    queueLimit,
    environment: Object.freeze(libraryEnvironment(environment)),
  };
  return {
    inference: Object.freeze(inference),
    /** Idle time in ms after which a model that was loaded on demand is unloaded; 0 disables unloading. */
    modelIdleMs: modelIdleS * 1000,
  };
}

/**
 * Variables that the runtime, ONNX, CUDA and the C library read, except those whose name suggests a secret.
 */
const FOR_LIBRARIES =
  /^(PATH|HOME|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|LD_PRELOAD|DYLD_\w+|XDG_CACHE_HOME|MALLOC_\w+|BUN_\w+|(CUDA|CUDNN|NVIDIA|NV|ORT|OMP|KMP|GOMP|MKL)_\w+)$/;
const SECRET = /KEY|TOKEN|SECRET|PASS|CREDENTIAL/i;

/** ONNX Runtime 1.30 would report its sessions to its vendor and keep a database of these events and an id in the home folder. */
const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: '1' };

/** Returns the environment of inference processes: an allow list, so that they do not receive keys, without telemetry. */
function libraryEnvironment(environment: Environment): Record<string, string> {
  const entries = Object.entries(environment).filter(
    ([name, value]) => value?.trim() && FOR_LIBRARIES.test(name) && !SECRET.test(name),
  );
  return { ...Object.fromEntries(entries.map(([name, value = '']) => [name, value])), ...NO_TELEMETRY };
}
