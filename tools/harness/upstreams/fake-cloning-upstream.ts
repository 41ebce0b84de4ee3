import { pcmAnswer } from './fake-upstream.ts';

/** A stored voice. */
interface Uploaded {
  readonly clip: Uint8Array;
  readonly refText: string;
  readonly consent: string;
}

export interface FakeCloningUpstream {
  /** Base URL up to and including `/v1`. */
  readonly baseUrl: string;
  /** Voices by their lower-cased names. */
  readonly voices: ReadonlyMap<string, Uploaded>;
  /** Bodies of speech requests, in their order. */
  readonly bodies: Readonly<Record<string, unknown>>[];
  /** Number of uploads, including rejected ones. */
  uploads: number;
  /** Number of requested deletions. */
  deletions: number;
  /** Whether deletions fail. */
  isStuck: boolean;
  /** Awaited before the response to an upload. */
  beforeUpload: () => Promise<void> | void;
  /** Maximum number of stored voices. */
  maxVoices: number;
  /** Simulates a restart that keeps or loses the stored voices. */
  restart(how: 'restores' | 'forgets'): void;
  close(): Promise<void>;
}

/** A voice that the server loads at its start (`custom_voice_dir`). */
export const HOUSE_VOICE = 'house';
const HOUSE_CLIP = new Uint8Array(1000).fill(1);

/** Number of clip bytes in a response: enough to identify the voice. */
const ANSWER_BYTES = 200;
const HEADER_BYTES = 44;
const MAX_UPLOAD_BYTES = 10 * 1024 * 1024;
const AUDIO_TYPES = ['mpeg', 'wav', 'x-wav', 'ogg', 'aac', 'flac', 'webm', 'mp4'].map(
  (type) => `audio/${type}`,
);

/**
 * Starts an HTTP server that clones voices by the rules of vLLM-Omni with a Base checkpoint (partner-and-upstreams B.1). A
 * response is the beginning of the clip of the voice.
 */
export function startFakeCloningUpstream(): FakeCloningUpstream {
  const voices = new Map<string, Uploaded>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/v1/models') return Response.json({ data: [] });
      if (pathname === '/v1/audio/speech') return speech((await request.json()) as Record<string, unknown>);
      if (pathname === '/v1/audio/voices' && request.method === 'POST') return upload(request);
      const [, name = ''] = /^\/v1\/audio\/voices\/(.+)$/.exec(pathname) ?? [];
      if (name !== '' && request.method === 'DELETE') return remove(decodeURIComponent(name));
      return Response.json({ detail: 'Not Found' }, { status: 404 });
    },
  });
  const upload = async (request: Request): Promise<Response> => {
    const form = await request.formData();
    upstream.uploads += 1;
    await upstream.beforeUpload();
    const [name, consent] = [form.get('name'), form.get('consent')];
    const sample = form.get('audio_sample');
    if (typeof name !== 'string' || typeof consent !== 'string' || !(sample instanceof File)) {
      return rejection('name, consent and audio_sample are required');
    }
    if (/[/\\\0]|^\.\.?$/.test(name)) return rejection('bad name');
    if (sample.size > MAX_UPLOAD_BYTES) return rejection('too large');
    if (!AUDIO_TYPES.includes(sample.type)) return rejection('unsupported type');
    const clip = await sample.bytes();
    const durationS = lengthOf(clip);
    if (!(durationS >= 1 && durationS <= 30)) return rejection('1 to 30 s');
    const key = name.toLowerCase();
    if (!voices.has(key) && voices.size >= upstream.maxVoices) return rejection('too many voices');
    voices.set(key, { clip, consent, refText: `${form.get('ref_text') ?? ''}` });
    return Response.json({ success: true, voice: { name: key, consent, file_size: clip.length } });
  };
  const remove = (name: string): Response => {
    upstream.deletions += 1;
    if (upstream.isStuck) return Response.json({ detail: 'disk' }, { status: 500 });
    if (voices.delete(name.toLowerCase())) return Response.json({ success: true, message: 'deleted' });
    return Response.json({ success: false, error: 'no such voice' }, { status: 404 });
  };
  const speech = async (body: Record<string, unknown>): Promise<Response> => {
    upstream.bodies.push(body);
    if (typeof body.input !== 'string' || body.input.trim() === '') return rejection('input is empty');
    if (typeof body.ref_audio === 'string') {
      if (body.task_type !== 'Base') return rejection('ref_audio needs the task type Base');
      if (typeof body.ref_text !== 'string') return rejection('ref_text is required');
      return spoken(await (await fetch(body.ref_audio)).bytes());
    }
    if (body.voice === HOUSE_VOICE) return spoken(HOUSE_CLIP);
    const voice = voices.get(`${body.voice}`.toLowerCase());
    return voice === undefined ? rejection(`Invalid speaker '${body.voice}'`) : spoken(voice.clip);
  };
  const upstream: FakeCloningUpstream = {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    voices,
    bodies: [],
    uploads: 0,
    deletions: 0,
    isStuck: false,
    beforeUpload: () => undefined,
    maxVoices: 1000,
    restart(how) {
      if (how === 'forgets') voices.clear();
    },
    close: () => server.stop(true),
  };
  return upstream;
}

function spoken(clip: Uint8Array): Response {
  const audio = [...clip.slice(HEADER_BYTES, HEADER_BYTES + ANSWER_BYTES)];
  return pcmAnswer([audio.slice(0, 51), audio.slice(51, 150), audio.slice(150)]);
}

function rejection(message: string): Response {
  return Response.json(
    { error: { message, type: 'BadRequestError', param: null, code: 400 } },
    { status: 400 },
  );
}

/** Length of a 16-bit mono WAV file in seconds; NaN for other files. */
function lengthOf(file: Uint8Array): number {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const isWav =
    file.length > HEADER_BYTES && view.getUint32(0) === 0x52494646 && view.getUint16(22, true) === 1;
  return isWav ? (file.length - HEADER_BYTES) / 2 / view.getUint32(24, true) : Number.NaN;
}
