/** What a fake upstream saw of one request. */
export interface SeenVideoRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** Of a form that was posted. */
  readonly fields: Record<string, string>;
  /** Its file. */
  readonly reference: { readonly name: string; readonly type: string; readonly bytes: Buffer } | undefined;
}

/** How a job of the fake goes on. */
export interface FakeVideoJob {
  readonly id: string;
  /** Asked for so often. */
  looks: number;
  deleted: boolean;
}

export interface FakeVideoUpstream {
  /** Base URL up to and including `/v1`. */
  readonly baseUrl: string;
  readonly seen: SeenVideoRequest[];
  readonly jobs: Map<string, FakeVideoJob>;
  /** Requests that were left by their caller. */
  cancelled: number;
  /** Changes how the post of a job is answered; undefined: it is taken. */
  take(how: () => Response | undefined): void;
  /** Changes what looks at a job are answered; undefined: it is completed. */
  look(how: (job: FakeVideoJob) => Response | Promise<Response> | undefined): void;
  /** Forgets every job, as a server that was started again. */
  restart(): void;
  /** What `GET …/content` of a completed job gives, or makes each time. */
  content: Uint8Array<ArrayBuffer> | (() => Response);
  /** What `DELETE` of a job answers first. */
  deleteStatus: number;
  close(): Promise<void>;
}

/** A record as vLLM-Omni gives it (partner-and-upstreams B.2). */
export function videoRecord(id: string, status: string, error: object | null = null): object {
  return {
    id,
    object: 'video',
    model: 'own',
    status,
    progress: status === 'completed' ? 100 : 0,
    seconds: '4',
    created_at: 1,
    error,
  };
}

/** A real HTTP server that plays other people's video servers; jobs are completed at the second look. */
export function startFakeVideoUpstream(): FakeVideoUpstream {
  let take: () => Response | undefined = () => undefined;
  let look: (job: FakeVideoJob) => Response | Promise<Response> | undefined = ({ id, looks }) =>
    looks < 2 ? Response.json(videoRecord(id, looks === 0 ? 'queued' : 'in_progress')) : undefined;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    error: () => new Response(null, { status: 500 }),
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/v1/models') return new Response('{}');
      request.signal.addEventListener('abort', () => {
        upstream.cancelled += 1;
      });
      upstream.seen.push(await seenOf(request, pathname));
      if (pathname === '/v1/videos') {
        const refused = take();
        if (refused) return refused;
        const job = { id: `video_gen_${upstream.jobs.size + 1}`, looks: 0, deleted: false };
        upstream.jobs.set(job.id, job);
        return Response.json(videoRecord(job.id, 'queued'));
      }
      const [, id = '', what] = /^\/v1\/videos\/([^/]+)(\/\w+)?$/.exec(pathname) ?? [];
      const job = upstream.jobs.get(id);
      if (!job || job.deleted) return Response.json({ detail: 'Video not found' }, { status: 404 });
      if (request.method === 'DELETE') {
        const status = upstream.deleteStatus;
        if (status === 200) job.deleted = true;
        return Response.json({ id, deleted: job.deleted }, { status });
      }
      if (what === '/cancel') {
        job.deleted = true;
        return Response.json(videoRecord(id, 'cancelled'));
      }
      if (what === '/content') {
        const { content } = upstream;
        return typeof content === 'function' ? content() : new Response(content);
      }
      const answer = await look(job);
      job.looks += 1;
      return answer ?? Response.json(videoRecord(id, 'completed'));
    },
  });
  const upstream: FakeVideoUpstream = {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    seen: [],
    jobs: new Map(),
    cancelled: 0,
    content: new Uint8Array(),
    deleteStatus: 200,
    take(how) {
      take = how;
    },
    look(how) {
      look = how;
    },
    restart: () => upstream.jobs.clear(),
    close: () => server.stop(true),
  };
  return upstream;
}

async function seenOf(request: Request, path: string): Promise<SeenVideoRequest> {
  const { method } = request;
  const fields: Record<string, string> = {};
  let reference: SeenVideoRequest['reference'];
  if (method === 'POST' && path === '/v1/videos') {
    const form = await request.formData();
    for (const [name, value] of form) if (typeof value === 'string') fields[name] = value;
    const file = form.get('input_reference');
    if (file instanceof File) {
      reference = { name: file.name, type: file.type, bytes: Buffer.from(await file.arrayBuffer()) };
    }
  }
  return { method, path, headers: Object.fromEntries(request.headers), fields, reference };
}
