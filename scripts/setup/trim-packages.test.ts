import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { trimPackages } from './trim-packages.ts';

const FILES = [
  'onnxruntime-node/package.json',
  'onnxruntime-node/bin/napi-v6/darwin/arm64/libonnxruntime.1.dylib',
  'onnxruntime-node/bin/napi-v6/linux/arm64/libonnxruntime.so.1',
  'onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1',
  'onnxruntime-node/bin/napi-v6/win32/x64/onnxruntime.dll',
  '@node-llama-cpp/linux-arm64/package.json',
  '@node-llama-cpp/linux-x64/package.json',
  '@node-llama-cpp/linux-x64-cuda/package.json',
  '@node-llama-cpp/mac-arm64-metal/package.json',
  '@addons/linux-x64/node.glibc.node',
  '@addons/linux-x64/node.musl.node',
  'library/dist/index.js',
  'library/dist/index.js.map',
  'library/dist/index.d.mts.map',
  'library/dist/style.css.map',
  'library/data/city.map',
] as const;

const KEPT_EVERYWHERE = [
  '@addons/linux-x64/node.glibc.node',
  'library/data/city.map',
  'library/dist/index.js',
  'onnxruntime-node/package.json',
];

test.for([
  [
    { os: 'linux', cpu: 'x64' },
    [
      '@node-llama-cpp/linux-x64-cuda/package.json',
      '@node-llama-cpp/linux-x64/package.json',
      'onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1',
    ],
  ],
  [
    { os: 'linux', cpu: 'arm64' },
    [
      '@node-llama-cpp/linux-arm64/package.json',
      'onnxruntime-node/bin/napi-v6/linux/arm64/libonnxruntime.so.1',
    ],
  ],
  [
    { os: 'darwin', cpu: 'arm64' },
    [
      '@node-llama-cpp/mac-arm64-metal/package.json',
      'onnxruntime-node/bin/napi-v6/darwin/arm64/libonnxruntime.1.dylib',
    ],
  ],
] as const)(
  'keeps the native libraries of $0.os-$0.cpu only, and no source maps',
  async ([platform, kept]) => {
    const folder = await tempDir();
    for (const file of FILES) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), '');
    }
    trimPackages(folder, platform);
    expect(filesIn(folder)).toEqual([...KEPT_EVERYWHERE, ...kept].sort());
    trimPackages(folder, platform);
    expect(filesIn(folder)).toEqual([...KEPT_EVERYWHERE, ...kept].sort());
  },
);

test('accepts packages without the trimmed files', async () => {
  const folder = await tempDir();
  trimPackages(folder, { os: 'linux', cpu: 'x64' });
  expect(filesIn(folder)).toEqual([]);
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();
}
