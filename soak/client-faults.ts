/** Faults of clients: slow readers, and clients that disappear without closing. */

import { connect } from 'node:net';
import { RealtimeClient } from '../tools/harness/clients/realtime-client.ts';
import { startCutProxy } from '../tools/harness/servers/cut-proxy.ts';
import { appends } from '../tools/harness/services/realtime-service.ts';
import type { FaultParts, SoakFault } from './fault.ts';
import { type Spoken, speechOf, TALE } from './loads/material.ts';
import { askSlowly } from './raw-request.ts';
import { accountOf } from './soak-client.ts';
import { keyOf, type Organization } from './soak-config.ts';
import type { SoakNode } from './soak-node.ts';

const SLOW_READERS = 3;
/** Three seconds of speech, then none for half a second: six times as fast as it is heard, and slower than it is made. */
const READ_BYTES = 150_000;
const PAUSE_MS = 500;
const SLOW_WITHIN_MS = 300_000;

const HALF_OPEN_SOCKETS = 3;
const WITHIN_MS = 60_000;

const authorization = (organization: Organization) => `Bearer ${keyOf(organization)}`;

/** A machine that is up, the first one if it is. */
const nodeOf = ({ sites }: FaultParts) =>
  sites.main.nodes.find(({ isUp }) => isUp) ?? (sites.main.nodes[0] as SoakNode);

async function readSlowly({ ledger, material, signal }: FaultParts, node: SoakNode): Promise<void> {
  const organization = accountOf('main', 'slow');
  const entry = ledger.begin({ load: 'slow reader', organization, node: node.name, rows: 'one' });
  const { path, body } = speechOf(TALE);
  const late = AbortSignal.timeout(SLOW_WITHIN_MS);
  try {
    const answer = await askSlowly({
      port: Number(new URL(node.service.baseUrl).port),
      headers: { authorization: authorization('slow'), 'content-type': 'application/json' },
      ...{ path, body: JSON.stringify(body), readBytes: READ_BYTES, pauseMs: PAUSE_MS },
      signal: AbortSignal.any([signal, late]),
    });
    entry.answered(answer.status, answer.requestId);
    if (late.aborted) entry.end('late', `${answer.bodyBytes} bytes of ${material.taleBytes}`);
    else if (signal.aborted) entry.end('left');
    else if (answer.status !== 200) entry.end('refused', String(answer.status));
    else if (!answer.isWhole) entry.end('cut', `${answer.bodyBytes} bytes`);
    else if (answer.bodyBytes === material.taleBytes) entry.end('right');
    else entry.end('wrong', `${answer.bodyBytes} bytes of speech and not ${material.taleBytes}`);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    entry.end(signal.aborted ? 'left' : late.aborted ? 'late' : 'unreachable', detail);
  }
}

const slowReaders: SoakFault = {
  name: 'slow-readers',
  what: `${SLOW_READERS} clients read a long speech more slowly than it is made, at the same time`,
  isPossible: () => true,
  async strike(parts) {
    const node = nodeOf(parts);
    const over = parts.ledger.strike({ name: 'slow-readers', nodes: [node.name], excuses: [] });
    await Promise.all(Array.from({ length: SLOW_READERS }, () => readSlowly(parts, node)));
    over();
    return undefined;
  },
};

/** A connection of realtime with a turn that is half said. */
async function halfSaid(url: string, { pcm }: Spoken): Promise<void> {
  const headers = { authorization: authorization('half-open') };
  const client = await RealtimeClient.connect(`${url.replace('http', 'ws')}/v1/realtime`, {
    ...{ headers, strict: false, timeoutMs: WITHIN_MS },
  });
  const turn_detection = { type: 'server_vad' };
  client.send({ type: 'session.update', session: { audio: { input: { turn_detection } } } });
  await client.next('session.updated');
  for (const audio of appends(Buffer.from(pcm)).slice(0, 10)) {
    client.send({ type: 'input_audio_buffer.append', audio });
  }
}

/** A call of the partner platform that has begun. */
async function halfCalled(url: string): Promise<void> {
  const headers = { headers: { authorization: authorization('half-open') } } as unknown as string[];
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/transcribers/partner?model=svc-stt`, headers);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error('the transcriber refused the call'));
  });
  const start = { type: 'start', encoding: 'linear16', container: 'raw', sampleRate: 16_000, channels: 2 };
  socket.send(JSON.stringify(start));
}

/** An upload of which a part has arrived. */
async function halfUploaded(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const lines = [
    'POST /v1/files HTTP/1.1',
    'host: soak',
    `authorization: ${authorization('half-open')}`,
    'content-type: multipart/form-data; boundary=b',
    'content-length: 1000000',
  ];
  const form =
    '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n' +
    '--b\r\ncontent-disposition: form-data; name="file"; filename="input.jsonl"\r\n\r\n';
  await new Promise<void>((resolve) => {
    socket.write(`${lines.join('\r\n')}\r\n\r\n${form}${'x'.repeat(100_000)}`, () => resolve());
  });
}

/** A long speech response that is not read. */
function unread(port: number, signal: AbortSignal): void {
  const { path, body } = speechOf(TALE);
  const headers = { authorization: authorization('half-open'), 'content-type': 'application/json' };
  const text = JSON.stringify(body);
  // Ends with the proxy, at the end of the run.
  void askSlowly({ port, path, headers, body: text, readBytes: 1, pauseMs: 3_600_000, signal }).catch(
    () => undefined,
  );
}

const halfOpen: SoakFault = {
  name: 'half-open',
  what: `the way of ${HALF_OPEN_SOCKETS} realtime connections, a phone call, an upload and a speech stops passing anything on, and closes nothing`,
  isPossible: () => true,
  async strike(parts) {
    const { ledger, material, signal, opened } = parts;
    const node = nodeOf(parts);
    const target = Number(new URL(node.service.baseUrl).port);
    // Closed after all checks: the service must detect the dead client itself.
    const proxy = opened.adopt(await startCutProxy(target), (it) => it.close());
    const url = `http://127.0.0.1:${proxy.port}`;
    const over = ledger.strike({ name: 'half-open', nodes: [node.name], excuses: [] });
    const said = material.sentences[0] as Spoken;
    const begun = await Promise.allSettled([
      ...Array.from({ length: HALF_OPEN_SOCKETS }, () => halfSaid(url, said)),
      ...[halfCalled(url), halfUploaded(proxy.port)],
    ]);
    unread(proxy.port, signal);
    for (const rows of [...begun.map(() => 'one' as const), 'some' as const]) {
      const call = {
        load: 'half-open socket',
        organization: accountOf('main', 'half-open'),
        node: node.name,
        rows,
      };
      ledger.begin(call).end('left');
    }
    await Bun.sleep(1000);
    proxy.freeze();
    over();
    return begun.some(({ status }) => status === 'rejected') ? 'some were refused' : undefined;
  },
};

export const CLIENT_FAULTS: readonly SoakFault[] = [slowReaders, halfOpen];
