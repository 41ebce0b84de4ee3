import { Badge, Button, Group, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { usePages } from '../../client/use-pages.ts';
import { Confirm } from '../../parts/feedback/confirm.tsx';
import { Empty } from '../../parts/feedback/empty.tsx';
import { FaultNote } from '../../parts/feedback/fault-note.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Page } from '../../parts/page.tsx';
import { Pager } from '../../parts/pager.tsx';
import { WideTable } from '../../parts/wide-table.tsx';
import { timeWords } from '../../parts/words.ts';
import type { ApiKey } from './api-key.ts';
import { NewKey } from './new-key.tsx';

/** API keys of the organization: list, create and revoke. */
export default function KeysPage() {
  const { client, organization } = useSession();
  const pages = usePages<ApiKey>('v1/keys', { limit: 20 });
  const { page: keys, fault, reload } = pages;
  const [isMaking, setMaking] = useState(false);
  const [ending, setEnding] = useState<ApiKey>();
  const isAdmin = organization.role === 'admin';

  return (
    <Page
      title="API keys"
      text="Create one key per application or person, so that each can be revoked separately. The service stores only a hash of the key."
      actions={
        isAdmin && (
          <Button leftSection={<Icon name="plus" />} onClick={() => setMaking(true)}>
            New key
          </Button>
        )
      }
    >
      {!isAdmin && (
        <Text size="sm" c="dimmed">
          Only admins can create and revoke keys. You are signed in as a member.
        </Text>
      )}
      <FaultNote fault={fault} onRetry={reload} />
      {keys?.data.length === 0 && (
        <Empty text="No stored keys. Keys of the API_KEYS setting are not listed here." />
      )}
      {keys !== undefined && keys.data.length > 0 && (
        <WideTable label="Keys" minWidth={320}>
          <Table verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th visibleFrom="sm">Key</Table.Th>
                <Table.Th>Role</Table.Th>
                <Table.Th visibleFrom="sm">Created</Table.Th>
                <Table.Th>Status</Table.Th>
                {isAdmin && <Table.Th aria-label="Actions" />}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {keys.data.map((key) => (
                <KeyRow
                  key={key.id}
                  apiKey={key}
                  isOwn={key.id === organization.key_id}
                  onEnd={isAdmin ? () => setEnding(key) : undefined}
                />
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      )}
      <Pager pages={pages} />
      {isMaking && <NewKey onMade={pages.newest} onClose={() => setMaking(false)} />}
      {ending !== undefined && (
        <Confirm
          title="Revoke this key?"
          text={
            <>
              Requests with <b>{nameOf(ending)}</b> are rejected on all machines within five seconds. This
              cannot be undone.
            </>
          }
          action="Revoke key"
          onConfirm={async () => {
            await client.delete(`v1/keys/${ending.id}`);
            reload();
          }}
          onClose={() => setEnding(undefined)}
        />
      )}
    </Page>
  );
}

function nameOf({ name, hint }: ApiKey): string {
  return name ?? hint;
}

function KeyRow(props: {
  readonly apiKey: ApiKey;
  readonly isOwn: boolean;
  /** Undefined if the caller may not revoke this key. */
  readonly onEnd: (() => void) | undefined;
}) {
  const { apiKey, isOwn, onEnd } = props;
  const isGood = apiKey.revoked_at === null;
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs">
          <Text size="sm" {...(apiKey.name === null && { c: 'dimmed' })} style={{ overflowWrap: 'anywhere' }}>
            {apiKey.name ?? 'No name'}
          </Text>
          <Text size="sm" c="dimmed" ff="monospace" hiddenFrom="sm">
            {apiKey.hint}
          </Text>
          {isOwn && (
            <Badge size="sm" variant="light">
              current key
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td ff="monospace" visibleFrom="sm">
        {apiKey.hint}
      </Table.Td>
      <Table.Td>{apiKey.role}</Table.Td>
      <Table.Td visibleFrom="sm">{timeWords(apiKey.created_at)}</Table.Td>
      <Table.Td>
        {isGood ? (
          <Badge color="green" variant="light">
            active
          </Badge>
        ) : (
          <Text size="sm" c="dimmed">
            revoked {timeWords(apiKey.revoked_at ?? 0)}
          </Text>
        )}
      </Table.Td>
      {onEnd !== undefined && (
        <Table.Td ta="right">
          {isGood && !isOwn && (
            <Button
              size="compact-sm"
              variant="default"
              onClick={onEnd}
              aria-label={`Revoke key ${nameOf(apiKey)}`}
            >
              Revoke
            </Button>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  );
}
