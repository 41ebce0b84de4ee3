import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../servers/certificate.ts';
import { type LaunchedService, type LaunchOptions, launchService, SERVICE_KEY } from './launcher.ts';

const CONFIG = `
[models."svc-tts"]
kind = "piper"
[models."svc-stt"]
kind = "whisper"
`;

/** The real service with real models, listening with and without TLS. */
export interface RealtimeService extends LaunchedService {
  /** `https://localhost:…`, with a self-signed certificate. */
  readonly tlsUrl: string;
  /** `ws://127.0.0.1:…/v1/realtime` */
  readonly socketUrl: string;
  /** Path of the certificate, for clients that must trust it. */
  readonly certificate: string;
}

/** @param options `config` is added to the configuration of the two models. `env` may name other plugins. */
export async function launchRealtimeService(
  options: Pick<LaunchOptions, 'config' | 'env'> = {},
): Promise<RealtimeService> {
  const folder = mkdtempSync(join(tmpdir(), 'realtime-test-'));
  const certificate = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  const { cert, key } = selfSigned();
  writeFileSync(certificate, cert);
  writeFileSync(keyFile, key);
  const removed = () => rmSync(folder, { recursive: true, force: true });
  try {
    const service = await launchService({
      config: CONFIG + (options.config ?? ''),
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
export async function spokenPcm(service: LaunchedService, text: string): Promise<Buffer> {
  const response = await service.fetch('/v1/audio/speech', {
    method: 'POST',
    headers: { 'x-api-key': SERVICE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc-tts', input: text, response_format: 'pcm' }),
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

/** The newest usage rows of organization `a`. */
export async function usageRows(service: LaunchedService, limit: number): Promise<Record<string, unknown>[]> {
  const page = (await (await service.fetch(`/v1/usage?limit=${limit}`)).json()) as {
    data: Record<string, unknown>[];
  };
  return page.data;
}
