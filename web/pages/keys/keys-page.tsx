import { Badge, Button, Group, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../../client/session.tsx';
import { usePages } from '../../client/use-pages.ts';
import { Confirm } from '../../components/feedback/confirm.tsx';
import { Empty } from '../../components/feedback/empty.tsx';
import { ErrorAlert } from '../../components/feedback/error-alert.tsx';
import { formatTime } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { WideTable } from '../../components/wide-table.tsx';
import type { ApiKey } from './api-key.ts';
import { NewKey } from './new-key.tsx';

/** API keys of the organization: list, create and revoke. */
export default function KeysPage() {
  const { client, organization } = useSession();
  const pages = usePages<ApiKey>('v1/keys', { limit: 20 });
  const { page: keys, error, reload } = pages;
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey>();
  const isAdmin = organization.role === 'admin';

  return (
    <Page
      title="API keys"
      text="Create one key per application or person, so that each can be revoked separately. The service stores only a hash of the key."
      actions={
        isAdmin && (
          <Button leftSection={<Icon name="plus" />} onClick={() => setCreating(true)}>
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
      <ErrorAlert error={error} onRetry={reload} />
      {keys?.data.length === 0 && (
        <Empty text="No stored keys. Keys of the API_KEYS setting are not listed here." />
      )}
      {keys !== undefined && keys.data.length > 0 && (
        <WideTable label="Keys" minWidth={760}>
          <Table verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Key</Table.Th>
                <Table.Th>Role</Table.Th>
                <Table.Th>Created</Table.Th>
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
                  onRevoke={isAdmin ? () => setRevoking(key) : undefined}
                />
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      )}
      <Pager pages={pages} />
      {isCreating && <NewKey onCreated={pages.newest} onClose={() => setCreating(false)} />}
      {revoking !== undefined && (
        <Confirm
          title="Revoke this key?"
          text={
            <>
              Requests with <b>{nameOf(revoking)}</b> are rejected on all machines within five seconds. This
              cannot be undone.
            </>
          }
          action="Revoke key"
          onConfirm={async () => {
            await client.delete(`v1/keys/${revoking.id}`);
            reload();
          }}
          onClose={() => setRevoking(undefined)}
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
  readonly onRevoke: (() => void) | undefined;
}) {
  const { apiKey, isOwn, onRevoke } = props;
  const isActive = apiKey.revoked_at === null;
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs">
          <Text size="sm" {...(apiKey.name === null && { c: 'dimmed' })} style={{ overflowWrap: 'anywhere' }}>
            {apiKey.name ?? 'No name'}
          </Text>
          {isOwn && (
            <Badge size="sm" variant="light">
              current key
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td ff="monospace" style={{ whiteSpace: 'nowrap' }}>
        {apiKey.hint}
      </Table.Td>
      <Table.Td>{apiKey.role}</Table.Td>
      <Table.Td>{formatTime(apiKey.created_at)}</Table.Td>
      <Table.Td>
        {isActive ? (
          <Badge color="green" variant="light">
            active
          </Badge>
        ) : (
          <Text size="sm" c="dimmed">
            revoked {formatTime(apiKey.revoked_at ?? 0)}
          </Text>
        )}
      </Table.Td>
      {onRevoke !== undefined && (
        <Table.Td ta="right">
          {isActive && !isOwn && (
            <Button
              size="compact-sm"
              variant="default"
              onClick={onRevoke}
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
