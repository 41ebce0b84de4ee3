import { useCallback, useEffect, useRef, useState } from 'react';
import type { ServiceClient } from '../../client/service-client.ts';
import { type ServiceFault, toFault } from '../../client/service-fault.ts';
import { type HearingAsk, hear } from './hearing.ts';

export interface Hearing {
  readonly phase: 'idle' | 'running' | 'done' | 'stopped';
  /** The request. */
  readonly ask: HearingAsk | undefined;
  readonly fault: ServiceFault | undefined;
  readonly text: string;
  /** Seconds from the request to the first text and to the last. */
  readonly firstS: number | undefined;
  readonly totalS: number | undefined;
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
}

const NOTHING: Hearing = {
  phase: 'idle',
  ask: undefined,
  fault: undefined,
  text: '',
  firstS: undefined,
  totalS: undefined,
  tokens: undefined,
};

/** Runs one transcription at a time. Cancelled when the page unmounts. */
export function useHearing(client: ServiceClient) {
  const [hearing, setHearing] = useState(NOTHING);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = useCallback(
    async (ask: HearingAsk) => {
      running.current?.abort();
      const abort = new AbortController();
      running.current = abort;
      const startMs = performance.now();
      const elapsedS = () => (performance.now() - startMs) / 1000;
      setHearing({ ...NOTHING, phase: 'running', ask });
      const tell = (change: (before: Hearing) => Partial<Hearing>) => {
        // A newer request may have started.
        if (running.current === abort) setHearing((before) => ({ ...before, ...change(before) }));
      };
      try {
        for await (const part of hear(client, ask, abort.signal)) {
          const nowS = elapsedS();
          if (part.kind === 'words') {
            tell(({ text, firstS = nowS }) => ({ text: text + part.text, firstS }));
          } else {
            tell(() => ({ tokens: { input: part.inputTokens, output: part.outputTokens } }));
          }
        }
        tell(() => ({ phase: 'done', totalS: elapsedS() }));
      } catch (error) {
        if (abort.signal.aborted) tell(() => ({ phase: 'stopped' }));
        else tell(() => ({ phase: 'done', fault: toFault(error) }));
      }
    },
    [client],
  );
  const stop = useCallback(() => running.current?.abort(), []);
  return { hearing, start, stop };
}
