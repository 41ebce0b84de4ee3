/** Faults of clients: slow readers, and clients that disappear without closing. */

import { connect } from 'node:net';
import { RealtimeClient } from '../../tools/harness/clients/realtime-client.ts';
import { startCutProxy } from '../../tools/harness/servers/cut-proxy.ts';
import { appends } from '../../tools/harness/services/realtime-service.ts';
import { type Spoken, speechOf, TALE } from '../loads/material.ts';
import { accountOf } from '../site/soak-client.ts';
import { keyOf, type Organization } from '../site/soak-config.ts';
import type { SoakNode } from '../site/soak-node.ts';
import type { FaultDeps, SoakFault } from './fault.ts';
import { sendSlowly } from './raw-request.ts';

const SLOW_READERS = 3;
/** About 3 s of PCM per read and 0.5 s of pause: six times faster than playback, and slower than synthesis. */
const READ_BYTES = 150_000;
const PAUSE_MS = 500;
const SLOW_WITHIN_MS = 300_000;

const HALF_OPEN_SOCKETS = 3;
const WITHIN_MS = 60_000;

const authorization = (organization: Organization) => `Bearer ${keyOf(organization)}`;

/** The first node that is up, or the first node. */
const nodeOf = ({ sites }: FaultDeps) =>
  sites.main.nodes.find(({ isUp }) => isUp) ?? (sites.main.nodes[0] as SoakNode);

async function readSlowly({ ledger, material, signal }: FaultDeps, node: SoakNode): Promise<void> {
  const organization = accountOf('main', 'slow');
  const entry = ledger.begin({ load: 'slow reader', organization, node: node.name, rows: 'one' });
  const { path, body } = speechOf(TALE);
  const timeout = AbortSignal.timeout(SLOW_WITHIN_MS);
  try {
    const response = await sendSlowly({
      port: Number(new URL(node.service.baseUrl).port),
      headers: { authorization: authorization('slow'), 'content-type': 'application/json' },
      path,
      body: JSON.stringify(body),
      readBytes: READ_BYTES,
      pauseMs: PAUSE_MS,
      signal: AbortSignal.any([signal, timeout]),
    });
    entry.responded(response.status, response.requestId);
    if (timeout.aborted) entry.end('late', `${response.bodyBytes} of ${material.taleBytes} bytes`);
    else if (signal.aborted) entry.end('left');
    else if (response.status !== 200) entry.end('rejected', String(response.status));
    else if (!response.isWhole) entry.end('cut', `${response.bodyBytes} bytes`);
    else if (response.bodyBytes === material.taleBytes) entry.end('right');
    else entry.end('wrong', `${response.bodyBytes} bytes of speech instead of ${material.taleBytes}`);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    entry.end(signal.aborted ? 'left' : timeout.aborted ? 'late' : 'unreachable', detail);
  }
}

const slowReaders: SoakFault = {
  name: 'slow-readers',
  what: `${SLOW_READERS} concurrent clients read a long speech response more slowly than it is synthesized`,
  isPossible: () => true,
  async inject(parts) {
    const node = nodeOf(parts);
    const repaired = parts.ledger.recordFault({ name: 'slow-readers', nodes: [node.name], excuses: [] });
    await Promise.all(Array.from({ length: SLOW_READERS }, () => readSlowly(parts, node)));
    repaired();
    return undefined;
  },
};

/** Opens a realtime connection with an unfinished turn. */
async function openTurn(url: string, { pcm }: Spoken): Promise<void> {
  const headers = { authorization: authorization('half-open') };
  const client = await RealtimeClient.connect(`${url.replace('http', 'ws')}/v1/realtime`, {
    headers,
    strict: false,
    timeoutMs: WITHIN_MS,
  });
  const turn_detection = { type: 'server_vad' };
  client.send({ type: 'session.update', session: { audio: { input: { turn_detection } } } });
  await client.next('session.updated');
  for (const audio of appends(Buffer.from(pcm)).slice(0, 10)) {
    client.send({ type: 'input_audio_buffer.append', audio });
  }
}

/** Opens a call of the partner platform. */
async function openPartnerCall(url: string): Promise<void> {
  const headers = { headers: { authorization: authorization('half-open') } } as unknown as string[];
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/transcribers/partner?model=svc-stt`, headers);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error('the transcriber refused the call'));
  });
  const start = { type: 'start', encoding: 'linear16', container: 'raw', sampleRate: 16_000, channels: 2 };
  socket.send(JSON.stringify(start));
}

/** Sends the first part of an upload. */
async function openUpload(port: number): Promise<void> {
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

/** Requests a long speech response and does not read it. */
function requestUnread(port: number, signal: AbortSignal): void {
  const { path, body } = speechOf(TALE);
  const headers = { authorization: authorization('half-open'), 'content-type': 'application/json' };
  const text = JSON.stringify(body);
  // The proxy closes this connection at the end of the run.
  void sendSlowly({ port, path, headers, body: text, readBytes: 1, pauseMs: 3_600_000, signal }).catch(
    () => undefined,
  );
}

const halfOpen: SoakFault = {
  name: 'half-open',
  what: `a proxy stops forwarding ${HALF_OPEN_SOCKETS} realtime connections, a phone call, an upload and a speech response without closing them`,
  isPossible: () => true,
  async inject(parts) {
    const { ledger, material, signal, opened } = parts;
    const node = nodeOf(parts);
    const target = Number(new URL(node.service.baseUrl).port);
    // Closed after all checks: the service must detect the dead client itself.
    const proxy = opened.adopt(await startCutProxy(target), (it) => it.close());
    const url = `http://127.0.0.1:${proxy.port}`;
    const repaired = ledger.recordFault({ name: 'half-open', nodes: [node.name], excuses: [] });
    const spoken = material.sentences[0] as Spoken;
    const opening = await Promise.allSettled([
      ...Array.from({ length: HALF_OPEN_SOCKETS }, () => openTurn(url, spoken)),
      ...[openPartnerCall(url), openUpload(proxy.port)],
    ]);
    requestUnread(proxy.port, signal);
    for (const rows of [...opening.map(() => 'one' as const), 'some' as const]) {
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
    repaired();
    return opening.some(({ status }) => status === 'rejected') ? 'some connections were refused' : undefined;
  },
};

export const CLIENT_FAULTS: readonly SoakFault[] = [slowReaders, halfOpen];
