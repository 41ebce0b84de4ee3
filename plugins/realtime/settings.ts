import { integer, section } from '../../src/config/section.ts';

export const realtimeSettings = [
  section('limits', {
    realtimeConnectionsPerOrganization: integer('realtime_connections_per_organization', {
      min: 1,
      max: 1_000_000,
      default: 10_000,
      doc: 'concurrent WebSockets; further connections get 429',
    }),
  }),
] as const;
