/** Faults of the stores: temporary unavailability. */

import type { CallEnd } from '../report/ledger.ts';
import type { SoakSites } from '../site/soak-site.ts';
import type { SoakFault } from './fault.ts';

const DOWNTIME_MS = 5000;
const HANG_MS = 10_000;
const OUTAGE_MS = 20_000;
const UNAVAILABLE = 'HTTP/1.1 503 Slow Down\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

/** A fault that breaks a server of the main site and repairs it after `lengthMs`. */
function outage(
  name: string,
  what: string,
  lengthMs: number,
  {
    begin,
    end,
    excuses = [],
  }: {
    readonly begin: (sites: SoakSites) => unknown;
    readonly end: (sites: SoakSites) => unknown;
    readonly excuses?: readonly CallEnd[];
  },
): SoakFault {
  return {
    name,
    what,
    isPossible: ({ servers }) => servers !== undefined,
    async inject({ sites, ledger }) {
      const nodes = sites.main.nodes.map((node) => node.name);
      const repaired = ledger.recordFault({ name, nodes, excuses });
      await begin(sites);
      await Bun.sleep(lengthMs);
      await end(sites);
      repaired();
      return undefined;
    },
  };
}

const disk: SoakFault = {
  name: 'disk',
  what: 'the disk of the third node is full for 20 s',
  isPossible: ({ disk }) => disk !== undefined,
  async inject({ sites: { disk }, ledger }) {
    const repaired = ledger.recordFault({ name: 'disk', nodes: ['small'], excuses: [] });
    const endMs = performance.now() + OUTAGE_MS;
    // Space that the node frees in this time is filled too.
    while (performance.now() < endMs) {
      await disk?.fill();
      await Bun.sleep(500);
    }
    await disk?.free();
    repaired();
    return undefined;
  },
};

export const STORE_FAULTS: readonly SoakFault[] = [
  outage('redis', 'Redis is stopped and starts again after 5 s without data', DOWNTIME_MS, {
    begin: ({ servers }) => servers?.redis.stop(),
    end: ({ servers }) => servers?.redis.start(),
  }),
  outage('redis-hangs', 'Redis accepts connections but does not respond for 10 s', HANG_MS, {
    begin: ({ servers }) => servers?.redis.pause(),
    end: ({ servers }) => servers?.redis.resume(),
  }),
  outage('database', 'PostgreSQL is stopped and starts again after 5 s', DOWNTIME_MS, {
    begin: ({ servers }) => servers?.postgres.stop(),
    end: ({ servers }) => servers?.postgres.start(),
  }),
  outage('s3', 'S3 responds with 503 for 20 s', OUTAGE_MS, {
    begin: ({ s3 }) => s3?.respondWith(UNAVAILABLE),
    end: ({ s3 }) => s3?.repair(),
    // A file download that fails half-way can only be cut off.
    excuses: ['cut'],
  }),
  disk,
];
