/** A recorded request. */
export interface SeenVideoRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** Text fields of the form. */
  readonly fields: Record<string, string>;
  /** File of the form. */
  readonly reference: { readonly name: string; readonly type: string; readonly bytes: Buffer } | undefined;
}

/** A job of the fake server. */
export interface FakeVideoJob {
  readonly id: string;
  /** Number of status requests. */
  looks: number;
  deleted: boolean;
}

export interface FakeVideoUpstream {
  /** Base URL up to and including `/v1`. */
  readonly baseUrl: string;
  readonly seen: SeenVideoRequest[];
  readonly jobs: Map<string, FakeVideoJob>;
  /** Number of requests that the client aborted. */
  cancelled: number;
  /** Sets the response to a new job; undefined: the job is accepted. */
  take(how: () => Response | undefined): void;
  /** Sets the response to a status request; undefined: the job is completed. */
  look(how: (job: FakeVideoJob) => Response | Promise<Response> | undefined): void;
  /** Deletes all jobs, like a restart. */
  restart(): void;
  /** Response body of `GET …/content`, or a function that returns the response. */
  content: Uint8Array<ArrayBuffer> | (() => Response);
  /** Status of the response to `DELETE`. */
  deleteStatus: number;
  close(): Promise<void>;
}

/** A video object of vLLM-Omni. */
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

/** An HTTP server with the API of a video server. A job is completed at the third status request. */
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
      upstream.seen.push(await recordRequest(request, pathname));
      if (pathname === '/v1/videos') {
        const rejection = take();
        if (rejection) return rejection;
        const job = { id: `video_gen_${upstream.jobs.size + 1}`, looks: 0, deleted: false };
        upstream.jobs.set(job.id, job);
        return Response.json(videoRecord(job.id, 'queued'));
      }
      const [, id = '', action] = /^\/v1\/videos\/([^/]+)(\/\w+)?$/.exec(pathname) ?? [];
      const job = upstream.jobs.get(id);
      if (!job || job.deleted) return Response.json({ detail: 'Video not found' }, { status: 404 });
      if (request.method === 'DELETE') {
        const status = upstream.deleteStatus;
        if (status === 200) job.deleted = true;
        return Response.json({ id, deleted: job.deleted }, { status });
      }
      if (action === '/cancel') {
        job.deleted = true;
        return Response.json(videoRecord(id, 'cancelled'));
      }
      if (action === '/content') {
        const { content } = upstream;
        return typeof content === 'function' ? content() : new Response(content);
      }
      const response = await look(job);
      job.looks += 1;
      return response ?? Response.json(videoRecord(id, 'completed'));
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

async function recordRequest(request: Request, path: string): Promise<SeenVideoRequest> {
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
