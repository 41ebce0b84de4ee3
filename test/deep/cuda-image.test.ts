import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HAS_PIP, pythonPackages } from '../../tools/harness/clients/python.ts';
import { needs } from '../harness/needs.ts';
import { buildArguments, HAS_PODMAN, hasImage, podmanOutput } from './containers/compose.ts';
import { MISSING_LIBRARIES } from './containers/native-links.ts';
import { DOCKER } from './containers/service-image.ts';

/**
 * The CUDA image: docker/Dockerfile.cuda is built completely, and `ldd` must find all shared libraries of every native
 * library in it. If NVIDIA's base image cannot be pulled, a stand-in (test/deep/containers) replaces it: Debian with empty
 * packages of the same names. The library files then come from NVIDIA's Python packages with the same CUDA version and are
 * mounted at the paths of the base image. The test shows that the image needs no further packages. It does not show that
 * inference runs on a GPU. It does not check libraries that are loaded with `dlopen`, such as cuDNN.
 */

const IMAGE = 'voice-service:cuda';
const BASE_IMAGE = 'docker.io/nvidia/cuda:13.0.1-cudnn-runtime-ubuntu24.04';
const LIBRARIES = join(import.meta.dirname, 'containers/cuda-libraries.txt');
const CUDA_13 = '/usr/local/cuda-13.0/targets/x86_64-linux/lib';

/** Libraries of the base image. */
const FILES_OF_BASE = [
  ['cu13/lib/libcudart.so.13', CUDA_13],
  ['cu13/lib/libcublas.so.13', CUDA_13],
  ['cu13/lib/libcublasLt.so.13', CUDA_13],
  ['cu13/lib/libcurand.so.10', CUDA_13],
] as const;

test('every native library finds its shared libraries, except the GPU driver', async (context) => {
  const isPossible = HAS_PODMAN && (await hasImage(BASE_IMAGE));
  needs(context, isPossible, 'podman and the base images (test/deep/containers/base-images.sh)');
  needs(context, HAS_PIP, 'Python with pip');
  const root = join(DOCKER, '..');
  await podmanOutput(...buildArguments, '--file', join(DOCKER, 'Dockerfile.cuda'), '--tag', IMAGE, root);

  const run = ['run', '--rm', '--no-healthcheck', '--network=none', '--user=0', '--entrypoint=sh'];
  const mounts = (await isStandIn()) ? await mountedLibraries() : [];
  // The linker cache of the base image does not list the mounted files.
  const script = `ldconfig; ${MISSING_LIBRARIES}`;
  const lines = (await podmanOutput(...run, ...mounts, IMAGE, '-c', script)).split('\n');
  const packages = '/app/node_modules';
  expect(lines.slice(0, -1).toSorted()).toEqual([
    '/app/gpu/node_modules/@node-llama-cpp/linux-x64-cuda/bins/linux-x64-cuda/libggml-cuda.so: libcuda.so.1',
    `${packages}/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime_providers_cuda.so: libcuda.so.1`,
  ]);
  // Bun, ONNX Runtime with its binding and two providers, llama.cpp twice, the media library, and the native addon.
  expect(Number.parseInt(lines.at(-1) ?? '', 10)).toBeGreaterThanOrEqual(9);
});

async function isStandIn(): Promise<boolean> {
  const label = '{{index .Config.Labels "voice-service.stand-in"}}';
  return (await podmanOutput('image', 'inspect', `--format=${label}`, BASE_IMAGE)) === 'true';
}

/** Podman options that mount the libraries of the base image. */
async function mountedLibraries(): Promise<string[]> {
  const libraries = join(await pythonPackages(LIBRARIES), 'nvidia');
  return FILES_OF_BASE.map(([file, folder]) => {
    const path = join(libraries, file);
    if (!existsSync(path)) throw new Error(`the Python packages have no ${file}`);
    return `--volume=${path}:${folder}/${file.split('/').at(-1)}:ro`;
  });
}
