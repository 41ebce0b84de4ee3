import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Certificate, selfSigned } from '../../tools/harness/servers/certificate.ts';
import { GuardedFetch, type GuardedFetchSettings } from './guarded-fetch.ts';
import { isPublicAddress } from './public-url.ts';

/** Over a real TLS server on this machine; only what makes it reachable at all is changed. */

const MAX_BYTES = 64 * 1024;
const LOCAL = [{ address: '127.0.0.1', family: 4 }];
const SOUND = new Uint8Array(5000).fill(7);

let certificate: Certificate;
let server: Bun.Server<undefined>;
let requested: string[] = [];
let response: (request: Request) => Response | Promise<Response>;

beforeAll(() => {
  certificate = selfSigned();
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: certificate,
    fetch(request) {
      requested.push(`${request.headers.get('host')}${new URL(request.url).pathname}`);
      return response(request);
    },
  });
});
beforeEach(() => {
  requested = [];
  response = () => new Response(SOUND);
});
afterAll(() => server.stop(true));

/** Reaches this machine under the name `localhost`, as the certificate calls it. */
function downloads(settings: Partial<GuardedFetchSettings> = {}) {
  return new GuardedFetch({
    maxBytes: MAX_BYTES,
    ports: new Set([443, server.port ?? 0]),
    resolve: async (host) => (host === 'localhost' ? LOCAL : []),
    isAllowedAddress: () => true,
    ca: certificate.cert,
    ...settings,
  });
}

/** With the real rule of what may be reached. */
const GUARDED: Partial<GuardedFetchSettings> = { isAllowedAddress: isPublicAddress };

const never = new AbortController().signal;
const at = (path: string, host = 'localhost') => `https://${host}:${server.port}${path}`;
const bytesOf = async (url: string, settings: Partial<GuardedFetchSettings> = {}, signal = never) =>
  Buffer.concat(await Array.fromAsync(downloads(settings).fetch(url, 'video', signal)));
const rejection = (message: RegExp) => ({
  kind: 'invalid_request',
  param: 'video',
  message: expect.stringMatching(message),
});

describe('isPublicAddress', () => {
  it.each([
    ...['8.8.8.8', '1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'],
  ])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '100.100.100.200', '192.0.0.192', '192.0.2.1', '198.18.0.1'],
    ...['198.51.100.1', '203.0.113.1', '192.88.99.1', '224.0.0.1', '239.255.255.250', '240.0.0.1'],
    ...['255.255.255.255', '::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd00:ec2::254', 'fec0::1'],
    ...['ff02::1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::8.8.8.8', '64:ff9b::a00:1', '64:ff9b:1::1'],
    ...['2002:a00:1::', '2001::1', '2001:db8::1', '2001:2::1', '100::1', '3fff::1', '5f00::1', '4000::1'],
    ...['', 'localhost', '1.2.3', '8.8.8.8.8'],
  ])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));
});

it('downloads content', async () => {
  expect(await bytesOf(at('/clip.mp4?part=1#end'))).toEqual(Buffer.from(SOUND));
  expect(requested).toEqual([`localhost:${server.port}/clip.mp4`]);
});

describe('rejects, without sending a request, a URL', () => {
  it.each([
    ['with http', 'http://localhost/clip.mp4', /https/],
    ['of a file', 'file:///etc/passwd', /https/],
    ['of a data URL', 'data:video/mp4;base64,AA==', /https/],
    ['without a scheme', 'clip.mp4', /https/],
    ['with a user name and a password', 'https://user:word@localhost/clip.mp4', /user name/],
    ['with another port', 'https://localhost:22/clip.mp4', /port/],
    ['that is too long', `https://localhost/${'a'.repeat(2048)}`, /2048/],
    ['with an unknown host name', 'https://nowhere.example/clip.mp4', /public internet/],
  ])('%s', async (_, url, message) => {
    await expect(bytesOf(url)).rejects.toMatchObject(rejection(message));
    expect(requested).toEqual([]);
  });

  it.each([
    ...['127.0.0.1', '0x7f.1', '2130706433', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '10.0.0.8'],
    ...['169.254.169.254', '[fd00:ec2::254]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '0'],
  ])('with the host %s in any notation', async (host) => {
    await expect(bytesOf(at('/clip.mp4', host), GUARDED)).rejects.toMatchObject(rejection(/public internet/));
    expect(requested).toEqual([]);
  });

  it.each([
    ['to an internal address', LOCAL],
    ['to an internal and a public address', [{ address: '93.184.216.34', family: 4 }, ...LOCAL]],
    ['to no address', []],
  ])('with a host name that resolves %s', async (_, addresses) => {
    const resolve = async () => addresses;
    await expect(bytesOf(at('/clip.mp4'), { ...GUARDED, resolve })).rejects.toMatchObject(
      rejection(/^'video' must be at a host on the public internet\.$/),
    );
    expect(requested).toEqual([]);
  });
});

it('rejects localhost with the default settings', async () => {
  const { port = 0 } = server;
  const own = new GuardedFetch({ maxBytes: MAX_BYTES, ports: new Set([port]), ca: certificate.cert });
  const fetching = Array.fromAsync(own.fetch(at('/clip.mp4'), 'video', never));
  await expect(fetching).rejects.toMatchObject(rejection(/public internet/));
  expect(requested).toEqual([]);
});

it('connects to the checked address, even if the host name now resolves to another one', async () => {
  let lookups = 0;
  const resolve = async () => {
    lookups += 1;
    return lookups === 1 ? LOCAL : [{ address: '10.0.0.1', family: 4 }];
  };
  // `localhost` also resolves to another address, on which no server listens.
  expect(await bytesOf(at('/clip.mp4'), { resolve })).toHaveLength(SOUND.length);
  expect(lookups).toBe(1);
});

it('rejects a server without a valid certificate for its name', async () => {
  const resolve = async () => LOCAL;
  await expect(bytesOf(at('/clip.mp4', 'other.example'), { resolve })).rejects.toMatchObject(
    rejection(/certificate/),
  );
  await expect(bytesOf(at('/clip.mp4'), { ca: selfSigned().cert })).rejects.toMatchObject(
    rejection(/certificate/),
  );
  expect(requested).toEqual([]);
});

it('does not use a proxy of the environment', async () => {
  let proxied = 0;
  const proxy = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        proxied += 1;
        socket.end();
      },
      data: () => undefined,
    },
  });
  const address = `http://127.0.0.1:${proxy.port}`;
  const program = `
    import { GuardedFetch } from ${JSON.stringify(new URL('./guarded-fetch.ts', import.meta.url).pathname)};
    const [url, port, ca] = process.argv.slice(-3);
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const fetching = new GuardedFetch({
      maxBytes: 1e6, ports: new Set([Number(port)]), resolve, isAllowedAddress: () => true, ca,
    });
    const bytes = await Array.fromAsync(fetching.fetch(url, 'video', new AbortController().signal));
    console.log(Buffer.concat(bytes).length);
    // The standard fetch shows that the proxy is configured.
    await fetch('https://other.example/').catch(() => undefined);`;
  const parts = [at('/clip.mp4'), String(server.port), certificate.cert];
  const child = Bun.spawn([process.execPath, '-e', program, '--', ...parts], {
    env: { PATH: process.env.PATH, HTTPS_PROXY: address, https_proxy: address, HTTP_PROXY: address },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect((await new Response(child.stdout).text()).trim()).toBe(String(SOUND.length));
  await child.exited;
  proxy.stop(true);
  expect(proxied).toBe(1);
});

describe('a redirect', () => {
  const to = (location: string, status = 302) => new Response(null, { status, headers: { location } });

  it('is followed up to three times', async () => {
    response = ({ url }) => {
      const hop = Number(new URL(url).pathname.slice(1));
      return hop < 3 ? to(`/${hop + 1}`, 301 + hop) : new Response(SOUND);
    };
    expect(await bytesOf(at('/0'))).toHaveLength(SOUND.length);
    expect(requested).toHaveLength(4);
  });

  it('is not followed a fourth time', async () => {
    response = ({ url }) => to(`${new URL(url).pathname}0`, 307);
    await expect(bytesOf(at('/0'))).rejects.toMatchObject(rejection(/redirects more than 3/));
    expect(requested).toHaveLength(4);
  });

  it.each([
    ['to localhost', 'https://127.0.0.1/clip.mp4', /public internet/],
    ['to the metadata service', 'https://169.254.169.254/latest', /public internet/],
    ['to a name with an internal address', 'https://inside.example/', /public internet/],
    ['to http', 'http://localhost/clip.mp4', /https/],
    ['to another port', 'https://localhost:22/', /port/],
    ['with a password', 'https://a:b@localhost/', /user name/],
  ])('%s is rejected', async (_, location, message) => {
    response = () => to(location, 308);
    const inside = [{ address: '192.168.0.9', family: 4 }];
    const settings = {
      resolve: async (host: string) => (host === 'localhost' ? LOCAL : inside),
      // Only the test server is allowed, by its name.
      isAllowedAddress: (address: string) => address === '127.0.0.1' && requested.length === 0,
    };
    await expect(bytesOf(at('/clip.mp4'), settings)).rejects.toMatchObject(rejection(message));
    expect(requested).toHaveLength(1);
  });
});

describe('content', () => {
  it('that is too long is rejected, with and without content-length', async () => {
    const long = new Uint8Array(MAX_BYTES + 1);
    response = () => new Response(long);
    await expect(bytesOf(at('/clip.mp4'))).rejects.toMatchObject(rejection(/at most 65536 bytes/));
    response = () => new Response(endless());
    await expect(bytesOf(at('/clip.mp4'))).rejects.toMatchObject(rejection(/at most 65536 bytes/));
    response = () => new Response(long.subarray(1));
    expect(await bytesOf(at('/clip.mp4'))).toHaveLength(MAX_BYTES);
  });

  it.each([204, 206, 304, 400, 404, 500])('with status %d is an error', async (status) => {
    response = () => new Response(status === 204 || status === 304 ? null : 'x', { status });
    await expect(bytesOf(at('/clip.mp4'))).rejects.toMatchObject(rejection(new RegExp(`status ${status}`)));
  });

  it('that is compressed is rejected', async () => {
    response = () => new Response(Bun.gzipSync(SOUND), { headers: { 'content-encoding': 'gzip' } });
    await expect(bytesOf(at('/clip.mp4'))).rejects.toMatchObject(rejection(/without compression/));
  });

  it('that stalls is rejected', async () => {
    response = () => new Promise(() => undefined);
    await expect(bytesOf(at('/clip.mp4'), { idleMs: 100 })).rejects.toMatchObject(rejection(/too long/));
    response = () => new Response(endless(60_000));
    await expect(bytesOf(at('/clip.mp4'), { idleMs: 300 })).rejects.toMatchObject(rejection(/too long/));
  });

  it('that takes too long in total is rejected', async () => {
    response = () => new Response(endless(20, 1));
    await expect(bytesOf(at('/clip.mp4'), { totalMs: 400 })).rejects.toMatchObject(rejection(/too long/));
  });

  it('is aborted with the signal at every stage', async () => {
    const reason = new Error('left');
    const left = new AbortController();
    left.abort(reason);
    await expect(bytesOf(at('/clip.mp4'), {}, left.signal)).rejects.toBe(reason);
    expect(requested).toEqual([]);

    for (const stage of ['looking up', 'waiting', 'reading'] as const) {
      const leaving = new AbortController();
      const silence = new Promise<never>(() => undefined);
      const leave = <T>(then: T) => {
        setImmediate(() => leaving.abort(reason));
        return then;
      };
      const resolve = () => (stage === 'looking up' ? leave(silence) : Promise.resolve(LOCAL));
      response = () => (stage === 'waiting' ? leave(silence) : leave(new Response(endless(5, 1))));
      await expect(bytesOf(at('/clip.mp4'), { resolve }, leaving.signal)).rejects.toBe(reason);
    }
  });
});

/** Bytes without an end, a portion every so many ms. */
function endless(everyMs = 0, portionBytes = 4096): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(new Uint8Array(portionBytes));
      await Bun.sleep(everyMs);
    },
  });
}
