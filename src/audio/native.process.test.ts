import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadAddon, native } from './native.ts';

const folder = mkdtempSync(join(tmpdir(), 'native-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The addon without its types, to call it with invalid arguments. */
type Untyped = (...args: readonly unknown[]) => unknown;
const calls = native as unknown as Readonly<Record<string, Untyped>>;
function call(name: string, ...args: readonly unknown[]): () => unknown {
  return () => calls[name]?.(...args);
}

function detached<View extends Int16Array | Float32Array | Uint8Array>(view: View): View {
  structuredClone(view.buffer, { transfer: [view.buffer as ArrayBuffer] });
  return view;
}

describe('loadAddon', () => {
  test('a missing addon causes an error that names the build command', () => {
    expect(() => loadAddon(join(folder, 'none.node'))).toThrow('Run: bun run build:native');
  });

  test('a file that is not a library causes an error that names the build command', () => {
    const path = join(folder, 'broken.node');
    writeFileSync(path, 'not a library');
    expect(() => loadAddon(path)).toThrow('Run: bun run build:native');
  });

  test('an addon of another ABI version is rejected', () => {
    const path = join(folder, 'old.cjs');
    writeFileSync(path, 'module.exports = { abiVersion: 0 }');
    expect(() => loadAddon(path)).toThrow('has version 0, the sources need 2. Run: bun run build:native');
  });
});

const resampler = native.createResampler(8_000, 16_000, 'int16', false);
const chunker = native.createChunker();

describe('invalid arguments are rejected', () => {
  const wrongArrays: readonly unknown[] = [
    ...[undefined, null, 1, 'text', {}, [], [1, 2], () => 1, Symbol('x'), 1n],
    ...[new ArrayBuffer(8), new DataView(new ArrayBuffer(8)), new Int32Array(2), new Float64Array(2)],
    ...[new Uint16Array(2), new BigInt64Array(2), new Uint8ClampedArray(2), new Int8Array(2)],
    { length: 2, 0: 1, 1: 1, buffer: new ArrayBuffer(4) },
    new Proxy(new Int16Array(2), {}),
    Object.create(Int16Array.prototype),
  ];

  test.each(wrongArrays.map((value) => [String(Object.prototype.toString.call(value)), value]))(
    'not an array of samples or bytes: %s',
    (_, value) => {
      expect(call('encode', 'mulaw', value)).toThrow(TypeError);
      expect(call('decode', 'mulaw', value, 'int16')).toThrow(TypeError);
      expect(call('float32ToInt16', value)).toThrow(TypeError);
      expect(call('int16ToFloat32', value)).toThrow(TypeError);
      expect(call('resamplerPush', resampler, value)).toThrow(TypeError);
    },
  );

  test('the other sample format', () => {
    expect(call('resamplerPush', resampler, new Float32Array(4))).toThrow('samples must be a Int16Array');
    expect(call('float32ToInt16', new Int16Array(4))).toThrow('samples must be a Float32Array');
    expect(call('int16ToFloat32', new Float32Array(4))).toThrow('samples must be a Int16Array');
    expect(call('decode', 'alaw', new Int16Array(4), 'int16')).toThrow('bytes must be a Uint8Array');
  });

  test('an unknown encoding or format', () => {
    const choices = "encoding must be 'pcm16', 'mulaw' or 'alaw'";
    for (const word of ['MULAW', '', 'mulaw\0', 7, null, undefined, {}, new String('mulaw')]) {
      expect(call('encode', word, new Int16Array(1))).toThrow(new TypeError(choices));
      expect(call('decode', word, new Uint8Array(1), 'int16')).toThrow(new TypeError(choices));
      expect(call('decode', 'alaw', new Uint8Array(1), word)).toThrow(TypeError);
      expect(call('createResampler', 8_000, 16_000, word, false)).toThrow(TypeError);
    }
  });

  test('rates and flags of the wrong type', () => {
    for (const rate of ['8000', null, undefined, {}, [8_000], 8_000n, true]) {
      expect(call('createResampler', rate, 16_000, 'int16', false)).toThrow('fromHz must be a number');
    }
    for (const portable of [0, 'false', null, undefined]) {
      expect(call('createResampler', 8_000, 16_000, 'int16', portable)).toThrow('portable must be a boolean');
    }
  });

  test('a text that is not a string', () => {
    for (const text of [undefined, null, 1, {}, ['a'], Symbol('a'), new String('a')]) {
      expect(call('chunkerPush', chunker, text)).toThrow('text must be a string');
    }
  });

  test('missing arguments', () => {
    for (const name of Object.keys(calls)) {
      if (typeof calls[name] === 'function' && name !== 'createChunker')
        expect(call(name)).toThrow(TypeError);
    }
  });
});

describe('warpPicture', () => {
  const [from, into] = [new Uint8Array(96), new Uint8Array(96)];
  const nodes = new Float32Array(4);
  const good = [from, 8, 8, 2, 2, 0.5, 4, nodes, nodes, into] as const;
  const FAULTS: readonly [number, unknown, string][] = [
    [0, new Uint8Array(95), 'from and into must have 96 bytes'],
    [9, new Uint8Array(97), 'from and into must have 96 bytes'],
    [9, from, 'into must not be the same buffer as from'],
    [9, new Uint8ClampedArray(96), 'into must be a Uint8Array'],
    [9, new Uint8Array(new SharedArrayBuffer(96)), 'into must not be in shared memory'],
    [1, 7, 'width and height must be even'],
    [1, 0, 'width must be'],
    [2, 16_386, 'height must be'],
    [3, 1, 'columns must be'],
    [4, 3, 'x and y must have 6 nodes'],
    [5, Number.NaN, 'origin must be a number from'],
    [6, 0.5, 'step must be a number from'],
    [6, '4', 'step must be a number from'],
    [7, new Float64Array(4), 'x must be a Float32Array'],
    [8, new Float32Array(3), 'x and y must have 4 nodes'],
  ];

  test('accepts a valid picture', () => {
    expect(call('warpPicture', ...good)).not.toThrow();
  });

  test.each(FAULTS)('rejects argument %s being %o', (index, value, message) => {
    expect(call('warpPicture', ...good.with(index, value as never))).toThrow(message);
  });
});

describe('memory is checked before access', () => {
  test('for a detached buffer', () => {
    expect(call('encode', 'mulaw', detached(new Int16Array(8)))).toThrow(TypeError);
    expect(call('encode', 'pcm16', detached(new Float32Array(8)))).toThrow('samples is in a detached buffer');
    expect(call('decode', 'alaw', detached(new Uint8Array(8)), 'float32')).toThrow(TypeError);
    expect(call('float32ToInt16', detached(new Float32Array(8)))).toThrow(TypeError);
    expect(call('resamplerPush', resampler, detached(new Int16Array(8)))).toThrow(TypeError);
  });

  test('for shared memory', () => {
    const shared = new SharedArrayBuffer(16);
    expect(call('encode', 'mulaw', new Int16Array(shared))).toThrow('samples must not be in shared memory');
    expect(call('decode', 'mulaw', new Uint8Array(shared), 'int16')).toThrow(TypeError);
    expect(call('resamplerPush', resampler, new Int16Array(shared, 4, 2))).toThrow(TypeError);
  });

  test('for a view of a buffer that was shrunk', () => {
    const buffer = new ArrayBuffer(64, { maxByteLength: 64 });
    const fixed = new Int16Array(buffer, 32, 16);
    const tracking = new Int16Array(buffer);
    buffer.resize(8);
    expect(native.encode('mulaw', tracking)).toEqual(new Uint8Array(4).fill(0xff));
    // An out-of-bounds view has length 0.
    expect(fixed.length).toBe(0);
    let coded = new Uint8Array(0);
    try {
      coded = native.encode('mulaw', fixed);
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
    }
    expect(coded.length).toBe(0);
  });

  test('for views at an offset, which read only their own range', () => {
    const all = Int16Array.of(1, 2, 3, 4, 5, 6);
    expect([...native.encode('pcm16', all.subarray(2, 4))]).toEqual([3, 0, 4, 0]);
  });

  test('for more elements than one call accepts', () => {
    const bytes = new Uint8Array(native.maxElements + 1);
    expect(call('decode', 'mulaw', bytes, 'int16')).toThrow(RangeError);
    expect(native.decode('mulaw', bytes.subarray(1), 'int16').length).toBe(native.maxElements);
    expect(call('chunkerPush', chunker, 'x'.repeat(native.maxElements + 1))).toThrow(
      'at most 16777216 are allowed per call',
    );
  });
});

describe('handles', () => {
  const notHandles: readonly unknown[] = [
    ...[undefined, null, 1, 'handle', {}, [], () => 1, Symbol('x'), new Map(), native],
    ...[Object.create(resampler), new Proxy(resampler, {}), { ...resampler }],
  ];

  test.each(notHandles.map((value) => [String(Object.prototype.toString.call(value)), value]))(
    'reject a value that is not a handle: %s',
    (_, value) => {
      expect(call('resamplerPush', value, new Int16Array(1))).toThrow('not a resampler');
      for (const name of [
        'resamplerFlush',
        'resamplerReset',
        'resamplerLatency',
        'resamplerKernel',
        'resamplerClose',
      ]) {
        expect(call(name, value)).toThrow(new TypeError('not a resampler'));
      }
      expect(call('chunkerPush', value, 'a')).toThrow('not a sentence chunker');
      for (const name of ['chunkerFlush', 'chunkerReset', 'chunkerClose']) {
        expect(call(name, value)).toThrow(new TypeError('not a sentence chunker'));
      }
    },
  );

  test('reject a handle of the other kind', () => {
    expect(call('resamplerFlush', chunker)).toThrow('not a resampler');
    expect(call('chunkerFlush', resampler)).toThrow('not a sentence chunker');
  });
});

test('the addon works in several concurrent worker threads and after they exit', async () => {
  const source = `
    import { Resampler } from ${JSON.stringify(join(import.meta.dirname, 'resampler.ts'))};
    import { splitSentences } from ${JSON.stringify(join(import.meta.dirname, 'sentences.ts'))};
    const resampler = new Resampler({ fromHz: 44_100, toHz: 16_000, format: 'int16' });
    let sum = 0;
    for (let round = 0; round < 20; round++) {
      const input = Int16Array.from({ length: 4_410 }, (_, n) => (n * 37) % 2_000);
      sum += resampler.push(input).reduce((total, sample) => total + sample, 0);
    }
    sum += splitSentences('One. Two. Three.').length;
    postMessage(sum);
  `;
  const path = join(folder, 'worker.ts');
  writeFileSync(path, source);
  const results = await Promise.all(
    Array.from({ length: 4 }, () => {
      const worker = new Worker(path);
      return new Promise<number>((resolve, reject) => {
        worker.onmessage = ({ data }: MessageEvent<number>) => {
          worker.terminate();
          resolve(data);
        };
        worker.onerror = (event) => reject(new Error(event.message));
      });
    }),
  );
  expect(new Set(results).size).toBe(1);
  expect(native.resamplerLatency(resampler)).toBe(72);
});
