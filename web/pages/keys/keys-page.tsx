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

/** Keys of the organization: who has some, a new one, the end of one. */
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
      text="Each program or person should have its own, so that one can be ended without the others. The service keeps no key, only its hash."
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
          You are signed in with a member's key. An admin's makes and ends keys.
        </Text>
      )}
      <FaultNote fault={fault} onRetry={reload} />
      {keys?.data.length === 0 && (
        <Empty text="No keys are stored. Fixed keys, of the setting API_KEYS, are not listed here." />
      )}
      {keys !== undefined && keys.data.length > 0 && (
        <WideTable label="Keys" minWidth={320}>
          <Table verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th visibleFrom="sm">Begins with</Table.Th>
                <Table.Th>Role</Table.Th>
                <Table.Th visibleFrom="sm">Made</Table.Th>
                <Table.Th>State</Table.Th>
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
          title="End this key?"
          text={
            <>
              <b>{nameOf(ending)}</b> will be refused from now on, on other machines within five seconds. It
              cannot be taken back.
            </>
          }
          action="End key"
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
  /** Undefined of who may not. */
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
              this one
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
            good
          </Badge>
        ) : (
          <Text size="sm" c="dimmed">
            ended {timeWords(apiKey.revoked_at ?? 0)}
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
              aria-label={`End the key ${nameOf(apiKey)}`}
            >
              End
            </Button>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  );
}
