import { useCallback, useEffect, useRef, useState } from 'react';
import type { ServiceClient } from '../../client/service-client.ts';
import { type ServiceError, toServiceError } from '../../client/service-error.ts';
import { type TranscriptionParams, transcribe } from './transcription.ts';

export interface Transcription {
  readonly phase: 'idle' | 'running' | 'done' | 'stopped';
  /** The request. */
  readonly params: TranscriptionParams | undefined;
  readonly error: ServiceError | undefined;
  readonly text: string;
  /** Seconds from the request to the first text and to the last. */
  readonly firstS: number | undefined;
  readonly totalS: number | undefined;
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
}

const NOTHING: Transcription = {
  phase: 'idle',
  params: undefined,
  error: undefined,
  text: '',
  firstS: undefined,
  totalS: undefined,
  tokens: undefined,
};

/** Runs one transcription at a time. Cancelled when the page unmounts. */
export function useTranscription(client: ServiceClient) {
  const [transcription, setTranscription] = useState(NOTHING);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = useCallback(
    async (params: TranscriptionParams) => {
      running.current?.abort();
      const abort = new AbortController();
      running.current = abort;
      const startMs = performance.now();
      const elapsedS = () => (performance.now() - startMs) / 1000;
      setTranscription({ ...NOTHING, phase: 'running', params });
      const tell = (change: (before: Transcription) => Partial<Transcription>) => {
        // A newer request may have started.
        if (running.current === abort) setTranscription((before) => ({ ...before, ...change(before) }));
      };
      try {
        for await (const part of transcribe(client, params, abort.signal)) {
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
        else tell(() => ({ phase: 'done', error: toServiceError(error) }));
      }
    },
    [client],
  );
  const stop = useCallback(() => running.current?.abort(), []);
  return { transcription, start, stop };
}
