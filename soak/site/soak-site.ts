/** Starts and stops the nodes of a soak run and their servers. */

import { join } from 'node:path';
import { systemClock, unixSeconds } from '../../src/kit/clock.ts';
import { creditStore } from '../../src/records/accounts/credit-store.ts';
import {
  type BatchSite,
  openMachineSite,
  openSharedSite,
  type SharedServers,
  startSharedServers,
} from '../../tools/harness/batches/batch-sites.ts';
import { type CutProxy, startCutProxy } from '../../tools/harness/servers/cut-proxy.ts';
import { HAS_POSTGRES } from '../../tools/harness/servers/postgres.ts';
import { HAS_REDIS } from '../../tools/harness/servers/redis.ts';
import { HAS_S3 } from '../../tools/harness/servers/s3.ts';
import { CAN_MOUNT, mountSmallDisk, type SmallDisk } from '../../tools/harness/servers/small-disk.ts';
import type { LaunchedService } from '../../tools/harness/services/launcher.ts';
import {
  API_KEYS,
  GRANTED,
  ORGANIZATIONS,
  SMALL_CONFIG,
  SMALL_PLUGINS,
  WHOLE_CONFIG,
  WHOLE_PLUGINS,
} from './soak-config.ts';
import { SoakNode } from './soak-node.ts';

const SMALL_DISK_MIB = 384;

/** Nodes that share their stores. */
export interface Site extends Pick<BatchSite, 'records' | 'blobs'> {
  readonly name: 'main' | 'small';
  readonly nodes: readonly SoakNode[];
  /** Starts another entry point in place of a stopped node. The site stops it. */
  launchAt(node: number, main: string): Promise<LaunchedService>;
}

export interface SoakSites {
  /** Two nodes with PostgreSQL, Redis and S3; one node with SQLite and a folder if one of these servers is missing. */
  readonly main: Site;
  /** One node with its data on a separate disk; absent if no disk can be mounted. */
  readonly small: Site | undefined;
  readonly servers: SharedServers | undefined;
  readonly disk: SmallDisk | undefined;
  /** Proxy between the nodes and S3. */
  readonly s3: CutProxy | undefined;
  /** Names of missing servers and permissions. */
  readonly missing: readonly string[];
  close(): Promise<void>;
}

/** @throws Error if a server or node does not start; all others are stopped then. */
export async function openSites(signal: AbortSignal): Promise<SoakSites> {
  const opened = new AsyncDisposableStack();
  try {
    return { ...(await open(opened, signal)), close: () => opened.disposeAsync() };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** @param opened receives the resources that the caller closes. */
async function open(opened: AsyncDisposableStack, signal: AbortSignal): Promise<Omit<SoakSites, 'close'>> {
  const keep = <Part extends { close(): Promise<void> }>(part: Part) =>
    opened.adopt(part, (it) => it.close());
  const lacks = { PostgreSQL: !HAS_POSTGRES, Redis: !HAS_REDIS, versitygw: !HAS_S3 };
  const missing = Object.entries(lacks).flatMap(([name, isMissing]) => (isMissing ? [name] : []));
  const servers = missing.length === 0 ? keep(await startSharedServers()) : undefined;
  const s3 = servers && keep(await startCutProxy(Number(new URL(servers.s3.endpoint).port)));
  const env = { API_KEYS, PLUGINS: WHOLE_PLUGINS };
  const whole = { config: WHOLE_CONFIG, granted: 0 };
  const main = keep(
    servers && s3
      ? await openSharedSite(servers, {
          ...whole,
          env: { ...env, S3_ENDPOINT: `http://127.0.0.1:${s3.port}` },
        })
      : await openMachineSite({ ...whole, env }),
  );
  const disk = CAN_MOUNT ? keep(await mountSmallDisk(SMALL_DISK_MIB)) : undefined;
  if (disk === undefined) missing.push('permission to mount a disk');
  const small =
    disk &&
    keep(
      await openMachineSite({
        config: SMALL_CONFIG,
        granted: 0,
        folder: join(disk.folder, 'node'),
        env: { API_KEYS, PLUGINS: SMALL_PLUGINS },
      }),
    );
  const sites = {
    main: siteOf('main', main, servers ? ['a', 'b'] : ['a']),
    small: small && siteOf('small', small, ['small']),
  };
  for (const site of [sites.main, sites.small]) {
    if (site === undefined) continue;
    await grantCredits(site);
    await Promise.all(site.nodes.map((node) => node.start(signal)));
  }
  return { ...sites, servers, disk, s3, missing };
}

function siteOf(name: Site['name'], site: BatchSite, names: readonly string[]): Site {
  const { records, blobs } = site;
  return {
    name,
    records,
    blobs,
    nodes: names.map((each, number) => new SoakNode(each, () => site.launch(number))),
    launchAt: (node, main) => site.launch(node, main),
  };
}

async function grantCredits({ records }: Site): Promise<void> {
  const store = creditStore(records);
  const at = unixSeconds(systemClock);
  for (const organization of ORGANIZATIONS) await store.grant(organization, GRANTED * 1_000_000, at);
}
