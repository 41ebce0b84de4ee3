/**
 * Where the process is in its shutdown.
 * - `serving`: normal operation.
 * - `draining`: SIGTERM was received. `/readyz` returns 503, so that load balancers stop sending requests; requests are
 *   still accepted (SHUTDOWN_DRAIN_MS).
 * - `stopping`: new requests are rejected with 503; running requests finish (SHUTDOWN_GRACE_MS).
 */
export type ServingPhase = 'serving' | 'draining' | 'stopping';
