import {
  CreateMultipartUploadCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { blobStoreCases, chunks, wholeOf } from '../../test/contract/blob-store.cases.ts';
import { freshBucket } from '../../test/harness/group-servers.ts';
import { needs } from '../../test/harness/needs.ts';
import { type S3Request, startS3Proxy } from '../../test/harness/s3-proxy.ts';
import { repetitions } from '../../test/harness/tier.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { HAS_S3 } from '../../tools/harness/servers/s3.ts';
import { ServiceError } from '../contract/core/error.ts';
import { Secret } from '../contract/core/secret.ts';
import type { S3BlobSettings } from '../contract/core/settings.ts';
import { systemClock } from '../kit/clock.ts';
import { openS3Blobs } from './s3-blobs.ts';
import { PART_BYTES } from './s3-upload.ts';

const never = new AbortController().signal;
const AWAY = { kind: 'overloaded', code: 'server_overloaded', retryAfterS: 5 };

beforeEach((context) => needs(context, HAS_S3, 'versitygw'));

async function open() {
  const bucket = await freshBucket();
  const blobs = await openS3Blobs(bucket.settings, systemClock);
  onTestFinished(() => blobs.close());
  return { blobs, bucket, ...bucket };
}

/** Behind a proxy that passes everything at first. */
async function openBehindProxy() {
  const bucket = await freshBucket();
  const proxy = await startS3Proxy(bucket.settings.endpoint);
  const blobs = await openS3Blobs({ ...bucket.settings, endpoint: proxy.endpoint }, systemClock);
  onTestFinished(() => blobs.close());
  return { blobs, proxy, bucket };
}

/** The client itself, for what the store does not do. */
function clientOf({ endpoint, region, accessKeyId, secretAccessKey }: S3BlobSettings): S3Client {
  const credentials = { accessKeyId, secretAccessKey: secretAccessKey.reveal() };
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  onTestFinished(() => client.destroy());
  return client;
}

const random = (lengthBytes: number) => {
  const bytes = Buffer.alloc(lengthBytes);
  for (let at = 0; at < lengthBytes; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
};
const isPart = ({ method, path }: S3Request) => method === 'PUT' && path.includes('partNumber=');
const isDownload = ({ method, path }: S3Request) => method === 'GET' && path.includes('/files/');

describe('blobs in S3', () => {
  blobStoreCases(open);

  it('are visible to every client of the bucket', async () => {
    const { blobs, bucket } = await open();
    await blobs.write('files/x', chunks('text'), never);
    const other = await openS3Blobs(bucket.settings, systemClock);
    expect(String(await wholeOf(other, 'files/x'))).toBe('text');
    await other.close();
  });
});

it('are listed without folder marker objects of other tools', async () => {
  const { blobs, settings } = await open();
  const client = clientOf(settings);
  await client.send(new PutObjectCommand({ Bucket: settings.bucket, Key: 'files/', ContentLength: 0 }));
  await blobs.write('files/x', chunks('text'), never);
  const names = await Array.fromAsync(blobs.list('files/', never), ({ name }) => name);
  expect(names).toEqual(['files/x']);
});

it('calls `failed` for failed requests, but not for missing blobs', async () => {
  const { settings } = await freshBucket();
  const proxy = await startS3Proxy(settings.endpoint);
  let failures = 0;
  const blobs = await openS3Blobs({ ...settings, endpoint: proxy.endpoint }, systemClock, () => {
    failures += 1;
  });
  onTestFinished(() => blobs.close());
  expect(await blobs.read('files/x', never)).toBeUndefined();
  await expect(blobs.read('files/x', AbortSignal.abort())).rejects.toThrow();
  expect(failures).toBe(0);
  proxy.fault(() => ({ kind: 'unavailable' }));
  await expect(blobs.read('files/x', never)).rejects.toMatchObject({ kind: 'overloaded' });
  expect(failures).toBe(1);
});

describe('an upload', () => {
  it('uses one request up to the part size, and parts beyond it', async () => {
    const { blobs, proxy } = await openBehindProxy();
    const sent = (from: number) => proxy.requests.slice(from).filter(({ method }) => method === 'PUT');
    const lengths = (requests: readonly S3Request[]) =>
      requests.map(({ body }) => body.length).sort((one, other) => other - one);
    await blobs.write('files/x', chunks(random(PART_BYTES - 1)), never);
    expect(lengths(sent(0))).toEqual([PART_BYTES - 1]);
    const before = proxy.requests.length;
    await blobs.write('files/x', chunks(random(2 * PART_BYTES + 1)), never);
    const parts = sent(before);
    expect(lengths(parts)).toEqual([PART_BYTES, PART_BYTES, 1]);
    expect(parts.every(isPart)).toBe(true);
    for (const { headers, body } of parts) {
      const sha256 = new Bun.CryptoHasher('sha256').update(body).digest();
      expect(headers['x-amz-checksum-sha256']).toBe(sha256.toString('base64'));
      expect(headers['x-amz-content-sha256']).toBe(sha256.toString('hex'));
    }
  });

  it('has at most two parts in flight, and reads one more from its source', async () => {
    const { blobs, proxy } = await openBehindProxy();
    let given = 0;
    let open = 0;
    let most = 0;
    const ahead: number[] = [];
    proxy.fault((request) => {
      if (isPart(request)) {
        open += 1;
        most = Math.max(most, open);
        ahead.push(given - ahead.length);
      }
      return { kind: 'pass' };
    });
    proxy.onAnswer((request) => {
      if (isPart(request)) open -= 1;
    });
    const source = async function* () {
      for (; given < 8; given += 1) yield random(PART_BYTES);
    };
    await blobs.write('files/x', source(), never);
    expect(ahead).toHaveLength(8);
    expect(most).toBeLessThanOrEqual(2);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(2);
  });

  it.each([
    ['short', 1000],
    ['long', 2 * PART_BYTES],
  ])('that is corrupted in transit is rejected by the server, %s', async (_, length) => {
    const { blobs, proxy, bucket } = await openBehindProxy();
    let damaged = false;
    proxy.fault(({ method, body }) => {
      if (method !== 'PUT' || body.length === 0 || damaged) return { kind: 'pass' };
      damaged = true;
      return { kind: 'damage' };
    });
    await expect(blobs.write('files/x', chunks(random(length)), never)).rejects.toMatchObject(AWAY);
    expect(damaged).toBe(true);
    expect(await bucket.heldBytes()).toBe(0);
  });

  it('whose part is rejected leaves nothing behind, and stops reading its source', {}, async () => {
    const { blobs, proxy, bucket } = await openBehindProxy();
    proxy.fault((request) =>
      isPart(request) && request.path.includes('partNumber=2') ? { kind: 'unavailable' } : { kind: 'pass' },
    );
    let given = 0;
    const endless = async function* () {
      for (;;) {
        given += 1;
        yield random(PART_BYTES);
      }
    };
    await expect(blobs.write('files/x', endless(), never)).rejects.toMatchObject(AWAY);
    expect(given).toBeLessThan(6);
    expect(await bucket.heldBytes()).toBe(0);
  });
});

describe('an unavailable store', () => {
  it.each(['unavailable', 'conflict'] as const)(
    'is hidden by retries if it recovers soon: %s',
    {},
    async (kind) => {
      const { blobs, proxy } = await openBehindProxy();
      const bytes = random(2 * PART_BYTES + 5);
      const tries = new Map<string, number>();
      // Every request fails once.
      proxy.fault(({ method, path, headers }) => {
        const key = `${method} ${path} ${headers.range}`;
        tries.set(key, (tries.get(key) ?? 0) + 1);
        return { kind: tries.get(key) === 1 ? kind : 'pass' };
      });
      const { sha256 } = await blobs.write('files/x', chunks(bytes), never);
      expect(sha256).toBe(new Bun.CryptoHasher('sha256').update(bytes).digest('hex'));
      expect((await wholeOf(blobs, 'files/x'))?.equals(bytes)).toBe(true);
      expect(await Array.fromAsync(blobs.list('files/', never), ({ name }) => name)).toEqual(['files/x']);
      expect(await blobs.delete('files/x')).toBe(true);
    },
  );

  it('is reported as overloaded by every method', async () => {
    const { blobs, proxy, bucket } = await openBehindProxy();
    await blobs.write('files/x', chunks('text'), never);
    proxy.fault(() => ({ kind: 'unavailable' }));
    await Promise.all([
      expect(blobs.write('files/y', chunks('x'), never)).rejects.toMatchObject(AWAY),
      expect(blobs.write('files/z', chunks(random(PART_BYTES)), never)).rejects.toMatchObject(AWAY),
      expect(blobs.read('files/x', never)).rejects.toMatchObject(AWAY),
      expect(blobs.delete('files/x')).rejects.toMatchObject(AWAY),
      expect(blobs.deleteAll('files/', never)).rejects.toMatchObject(AWAY),
      expect(Array.fromAsync(blobs.list('files/', never))).rejects.toMatchObject(AWAY),
    ]);
    proxy.fault(() => ({ kind: 'pass' }));
    expect(String(await wholeOf(blobs, 'files/x'))).toBe('text');
    expect(await bucket.heldBytes()).toBe(4);
  });

  it('does not delay an aborted call', async () => {
    const { blobs, proxy } = await openBehindProxy();
    const controller = new AbortController();
    const left = new Error('left');
    proxy.fault(() => {
      controller.abort(left);
      return { kind: 'unavailable' };
    });
    await expect(blobs.read('files/x', controller.signal)).rejects.toBe(left);
  });
});

it('an abort ends the pause between two retries', async () => {
  const { blobs, proxy } = await openBehindProxy();
  const controller = new AbortController();
  const left = new Error('left');
  let tries = 0;
  // The client draws the length of a pause when the pause begins.
  const jitter = vi.spyOn(Math, 'random').mockImplementation(() => {
    if (tries === 3) setImmediate(() => controller.abort(left));
    // The longest pause, because a short one could end before the abort.
    return 0.999;
  });
  onTestFinished(() => jitter.mockRestore());
  proxy.fault(() => {
    tries += 1;
    return { kind: 'unavailable' };
  });
  await expect(blobs.read('files/x', controller.signal)).rejects.toBe(left);
  // Without the abort, the pause would end with another request.
  expect(tries).toBe(3);
});

describe('abandoned uploads', () => {
  const HOUR_MS = 3_600_000;

  it('are removed after a day, regardless of their number', async () => {
    const { settings, heldBytes } = await freshBucket();
    const client = clientOf(settings);
    // In the deep tier more than one page of the server, which has 1000.
    const turns = repetitions(2, 21);
    for (const turn of Array(turns).keys()) {
      const some = Array.from({ length: 50 }, async (_, at) => {
        const location = { Bucket: settings.bucket, Key: `files/${turn}-${at}` };
        const { UploadId } = await client.send(new CreateMultipartUploadCommand(location));
        if (at > 0) return;
        await client.send(new UploadPartCommand({ ...location, UploadId, PartNumber: 1, Body: 'text' }));
      });
      await Promise.all(some);
    }
    const clock = new ManualClock(systemClock.now() + 23 * HOUR_MS);
    const blobs = await openS3Blobs(settings, clock);
    onTestFinished(() => blobs.close());
    expect([await blobs.removeUnfinished(never), await heldBytes()]).toEqual([0, 4 * turns]);
    clock.advance(2 * HOUR_MS);
    expect([await blobs.removeUnfinished(never), await heldBytes()]).toEqual([50 * turns, 0]);
    expect(await blobs.removeUnfinished(never)).toBe(0);
  });

  it('can be removed by several hosts concurrently', async () => {
    const { settings } = await freshBucket();
    const clock = new ManualClock(systemClock.now());
    const writing = await openS3Blobs(settings, clock);
    onTestFinished(() => writing.close());
    const [partSent, resume] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const bytes = async function* () {
      // The first part has been sent when the third one is requested.
      yield random(4 * PART_BYTES);
      partSent.resolve();
      await resume.promise;
    };
    const written = writing.write('files/x', bytes(), never);
    await partSent.promise;
    clock.advance(25 * HOUR_MS);
    const removed = await Promise.all([0, 1, 2, 3].map(() => writing.removeUnfinished(never)));
    expect(Math.max(...removed)).toBe(1);
    resume.resolve();
    await expect(written).rejects.toBeInstanceOf(ServiceError);
    expect(await writing.read('files/x', never)).toBeUndefined();
  });
});

describe('a download', () => {
  it('resumes after a broken connection', async () => {
    const { blobs, proxy } = await openBehindProxy();
    const bytes = random(3_000_000);
    await blobs.write('files/x', chunks(bytes), never);
    proxy.fault((request) =>
      isDownload(request) ? { kind: 'cut', afterBytes: 1_000_000 } : { kind: 'pass' },
    );
    expect(
      (await wholeOf(blobs, 'files/x', { start: 7, end: 2_999_999 }))?.equals(bytes.subarray(7, 2_999_999)),
    ).toBe(true);
    const ranges = proxy.requests.filter(isDownload).map(({ headers }) => headers.range);
    expect(ranges.length).toBeGreaterThanOrEqual(3);
    expect(ranges[0]).toBe('bytes=7-2999998');
  });

  it('without any data is rejected', async () => {
    const { blobs, proxy } = await openBehindProxy();
    await blobs.write('files/x', chunks('text'), never);
    proxy.fault((request) => (isDownload(request) ? { kind: 'cut', afterBytes: 0 } : { kind: 'pass' }));
    await expect(wholeOf(blobs, 'files/x')).rejects.toMatchObject(AWAY);
    expect(proxy.requests.filter(isDownload).length).toBeLessThan(20);
  });

  it('does not continue with a blob that replaced the original', async () => {
    const { blobs, proxy } = await openBehindProxy();
    await blobs.write('files/x', chunks(Buffer.alloc(2_000_000, 1)), never);
    let isCut = false;
    proxy.fault((request) => {
      if (!isDownload(request) || isCut) return { kind: 'pass' };
      isCut = true;
      return { kind: 'cut', afterBytes: 1_000_000 };
    });
    const bytes = await blobs.read('files/x', never);
    await bytes?.next();
    await blobs.write('files/x', chunks(Buffer.alloc(2_000_000, 2)), never);
    await expect(Array.fromAsync(bytes ?? [])).rejects.toMatchObject({ kind: 'internal' });
  });
});

describe('opening the store explains the problem', () => {
  const wrong: [string, Partial<S3BlobSettings>, string][] = [
    ['with a missing bucket', { bucket: 'nowhere' }, 'the bucket does not exist'],
    ['with another key', { accessKeyId: 'other' }, 'S3_ACCESS_KEY_ID'],
    ['with another secret', { secretAccessKey: new Secret('secret-x') }, 'S3_SECRET_ACCESS_KEY'],
    ['with another region', { region: 'elsewhere-9' }, 'S3_REGION'],
    ['without a server', { endpoint: 'http://127.0.0.1:1' }, 'check S3_ENDPOINT'],
  ];
  it.each(wrong)('%s', async (_, change, expected) => {
    const { settings } = await freshBucket();
    const opened = openS3Blobs({ ...settings, ...change }, systemClock);
    await expect(opened).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringContaining(expected),
    });
    await expect(opened).rejects.not.toMatchObject({ message: expect.stringContaining('secret-') });
  });
});
