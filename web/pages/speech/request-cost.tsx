import { Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { useLoad } from '../../client/use-load.ts';
import { formatCount, formatCredits } from '../../components/format.ts';

/** Number of usage rows that are searched for the request. */
const NEWEST = 20;
/** The row of a streamed response is written after its last byte was sent. */
const RETRY_MS = 1000;
const MAX_POLLS = 10;

interface UsageRow {
  readonly request_id: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly characters?: number;
  readonly audio_seconds?: number;
}

interface Credits {
  readonly balance: number;
  readonly reserved: number;
}

/** Usage and cost of a request from its usage row, and the remaining credits if the organization has any. */
export function RequestCost(props: { readonly requestId: string; readonly endpoint: string }) {
  const { requestId, endpoint } = props;
  const { client } = useSession();
  const [polls, setPolls] = useState(0);
  const { value } = useLoad(
    async (signal) => {
      setPolls((before) => before + 1);
      const query = { endpoint, limit: NEWEST };
      const { data } = await client.list<UsageRow>('v1/usage', { signal, query });
      const row = data.find(({ request_id }) => request_id === requestId);
      return row && { row, credits: await client.get<Credits>('v1/credits', { signal }) };
    },
    [client, requestId],
    { intervalMs: polls < MAX_POLLS ? RETRY_MS : undefined },
  );
  const isFound = value !== undefined;
  useEffect(() => {
    if (isFound) setPolls(MAX_POLLS);
  }, [isFound]);
  if (value === undefined) return null;
  const { row, credits } = value;
  const words = [
    row.characters !== undefined && `${formatCount(row.characters)} characters`,
    row.audio_seconds !== undefined && `${row.audio_seconds.toFixed(1)} s of audio`,
    `${formatCount(row.input_tokens)} input tokens, ${formatCount(row.output_tokens)} output tokens`,
    credits.balance > 0 && `${formatCredits(credits.balance)} credits remaining`,
  ];
  return (
    <Text size="sm" c="dimmed" className="figures">
      Usage: {words.filter(Boolean).join(' · ')}
    </Text>
  );
}
