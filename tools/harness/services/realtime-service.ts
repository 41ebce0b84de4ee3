import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../servers/certificate.ts';
import { type LaunchedService, type LaunchOptions, launchService, type ServiceAccess } from './launcher.ts';

const CONFIG = `
[models."svc-tts"]
kind = "piper"
[models."svc-stt"]
kind = "whisper"
`;

/** Access to a service with realtime that listens with and without TLS. */
export interface RealtimeAccess extends ServiceAccess {
  /** `https://localhost:…`, with a self-signed certificate. */
  readonly tlsUrl: string;
  /** `ws://127.0.0.1:…/v1/realtime` */
  readonly socketUrl: string;
  /** Path of the certificate, for clients that must trust it. */
  readonly certificate: string;
}

export type RealtimeService = LaunchedService & RealtimeAccess;

export interface RealtimeOptions extends Pick<LaunchOptions, 'config' | 'env'> {
  /** Tables of CONFIG that replace those of the two models. */
  readonly models?: string;
}

/**
 * The real service with real models.
 * @param options `config` is added to the configuration of the models. `env` may name other plugins.
 */
export async function launchRealtimeService(options: RealtimeOptions = {}): Promise<RealtimeService> {
  const folder = mkdtempSync(join(tmpdir(), 'realtime-test-'));
  const certificate = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  const { cert, key } = selfSigned();
  writeFileSync(certificate, cert);
  writeFileSync(keyFile, key);
  const removed = () => rmSync(folder, { recursive: true, force: true });
  try {
    const service = await launchService({
      config: (options.models ?? CONFIG) + (options.config ?? ''),
      env: {
        PLUGINS: 'speech,realtime',
        TLS_CERT_FILE: certificate,
        TLS_KEY_FILE: keyFile,
        TLS_PORT: '0',
        ...options.env,
      },
    });
    const port = service.log().find(({ msg }) => msg === 'listening with TLS')?.port;
    return {
      ...service,
      tlsUrl: `https://localhost:${port}`,
      socketUrl: `${service.baseUrl.replace('http', 'ws')}/v1/realtime`,
      certificate,
      async stop() {
        const exitCode = await service.stop();
        removed();
        return exitCode;
      },
    };
  } catch (error) {
    removed();
    throw error;
  }
}

/** Synthesizes a text: 16-bit samples at 24 kHz. */
export async function spokenPcm(service: ServiceAccess, text: string, model = 'svc-tts'): Promise<Buffer> {
  const response = await service.fetch('/v1/audio/speech', {
    method: 'POST',
    headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: text, response_format: 'pcm' }),
  });
  if (!response.ok) throw new Error(`speech: ${response.status} ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Silence at 24 kHz. */
export const silentPcm = (lengthMs: number) => Buffer.alloc(Math.round(lengthMs * 24) * 2);

/** Splits audio at 24 kHz into appends of 100 ms, in base64. */
export function appends(pcm: Buffer): string[] {
  const size = 4800;
  return Array.from({ length: Math.ceil(pcm.length / size) }, (_, i) =>
    pcm.subarray(i * size, (i + 1) * size).toString('base64'),
  );
}

/** The newest usage rows of the organization of the key. */
export async function usageRows(service: ServiceAccess, limit: number): Promise<Record<string, unknown>[]> {
  const page = (await (await service.fetch(`/v1/usage?limit=${limit}`)).json()) as {
    data: Record<string, unknown>[];
  };
  return page.data;
}
