import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { Header } from 'tar';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../test/harness/temp-dir.ts';
import { type ArchiveFormat, readMembers } from './archive.ts';

const text = (value: string) => new TextEncoder().encode(value);

interface TarMember {
  readonly path: string;
  readonly data?: Uint8Array;
  readonly type?: 'File' | 'SymbolicLink';
  readonly linkpath?: string;
}

function tgz(members: readonly TarMember[]): Uint8Array {
  const blocks: Buffer[] = [];
  for (const { path, data = new Uint8Array(), type = 'File', linkpath } of members) {
    const header = new Header({
      path,
      size: data.length,
      type,
      mode: 0o644,
      ...(linkpath === undefined ? {} : { linkpath }),
    });
    const block = Buffer.alloc(512);
    header.encode(block);
    blocks.push(block, Buffer.from(data), Buffer.alloc((512 - (data.length % 512)) % 512));
  }
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function zip(members: readonly TarMember[]): Uint8Array {
  return zipSync(Object.fromEntries(members.map(({ path, data }) => [path, data ?? new Uint8Array()])));
}

async function read(
  format: ArchiveFormat,
  packed: Uint8Array,
  limits: Record<string, number>,
  unpackedLimit?: number,
) {
  const dir = await tempDir();
  const path = join(dir, 'archive');
  await writeFile(path, packed);
  return await readMembers(path, format, new Map(Object.entries(limits)), unpackedLimit);
}

const makers = { zip, tgz } as const;

describe.each(['zip', 'tgz'] as const)('readMembers of a %s', (format) => {
  const make = makers[format];

  test('returns only the requested members', async () => {
    const large = new Uint8Array(200_000).map((_, index) => index % 251);
    const packed = make([
      { path: 'package/a.bin', data: text('one') },
      { path: 'package/other.bin', data: text('not wanted') },
      { path: 'package/b.bin', data: large },
    ]);
    const members = await read(format, packed, { 'package/a.bin': 3, 'package/b.bin': 200_000 });
    expect([...members.keys()].sort()).toEqual(['package/a.bin', 'package/b.bin']);
    expect(Buffer.from(members.get('package/a.bin') ?? []).toString()).toBe('one');
    expect(Buffer.compare(members.get('package/b.bin') ?? new Uint8Array(), large)).toBe(0);
  });

  test('the error contains the name of a missing member', async () => {
    const packed = make([{ path: 'a', data: text('one') }]);
    await expect(read(format, packed, { a: 3, b: 3 })).rejects.toThrow('Missing file b.');
  });

  test('rejects a member over its limit without unpacking it', async () => {
    const packed = make([{ path: 'bomb', data: new Uint8Array(5_000_000) }]);
    expect(packed.length).toBeLessThan(50_000);
    await expect(read(format, packed, { bomb: 4_999_999 })).rejects.toThrow(
      /size of bomb is 5000000 bytes; expected at most 4999999/,
    );
  });

  test('ignores hostile names of members that were not requested', async () => {
    const packed = make([
      { path: '../../climbing', data: text('x') },
      { path: '/absolute', data: text('x') },
      { path: 'wanted', data: text('yes') },
    ]);
    const members = await read(format, packed, { wanted: 3 });
    expect([...members.keys()]).toEqual(['wanted']);
  });

  test.each([
    ['cut short', (packed: Uint8Array) => packed.subarray(0, packed.length >> 1)],
    ['no archive at all', () => text('Not found')],
    ['empty', () => new Uint8Array()],
  ])('rejects a file that is %s', async (_name, damage) => {
    const packed = make([{ path: 'a', data: crypto.getRandomValues(new Uint8Array(20_000)) }]);
    await expect(read(format, damage(packed), { a: 20_000 })).rejects.toMatchObject({ name: 'ArchiveError' });
  });
});

describe('readMembers', () => {
  test('applies the limit if the declared size is too small', async () => {
    const packed = zip([{ path: 'liar', data: new Uint8Array(1_000_000) }]);
    const directory = Buffer.from(packed).indexOf(Buffer.from('PK\u0001\u0002', 'latin1'));
    new DataView(packed.buffer, packed.byteOffset).setUint32(directory + 24, 10, true);
    await expect(read('zip', packed, { liar: 10 })).rejects.toMatchObject({ name: 'ArchiveError' });
  });

  test('rejects a tarball that unpacks to too many bytes, also in members that were not requested', async () => {
    const packed = tgz([
      { path: 'bomb', data: new Uint8Array(5_000_000) },
      { path: 'wanted', data: text('yes') },
    ]);
    await expect(read('tgz', packed, { wanted: 3 }, 1_000_000)).rejects.toThrow(/exceeds 1000000 bytes/);
  });

  test('rejects a tarball that is compressed twice', async () => {
    const packed = gzipSync(tgz([{ path: 'wanted', data: text('yes') }]));
    await expect(read('tgz', packed, { wanted: 3 })).rejects.toThrow('Compressed twice.');
  });

  test('rejects a link instead of a requested member', async () => {
    const packed = tgz([{ path: 'wanted', type: 'SymbolicLink', linkpath: '/etc/hostname' }]);
    await expect(read('tgz', packed, { wanted: 100 })).rejects.toThrow(
      'wanted is a SymbolicLink, not a regular file.',
    );
  });
});
