import { Alert, Button, CopyButton, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type ServiceError, toServiceError } from '../../client/service-error.ts';
import { useSession } from '../../client/session.tsx';
import { CAN_COPY } from '../../components/code-block.tsx';
import { Dialog } from '../../components/feedback/dialog.tsx';
import { ErrorAlert, fieldErrorMessage } from '../../components/feedback/error-alert.tsx';
import { Icon } from '../../components/icon.tsx';
import type { ApiKey, CreatedKey } from './api-key.ts';

/** Dialog that creates a key and shows it once. */
export function NewKey(props: { readonly onCreated: () => void; readonly onClose: () => void }) {
  const [created, setCreated] = useState<CreatedKey>();
  return (
    <Dialog
      onClose={props.onClose}
      title={created === undefined ? 'New key' : 'Key created'}
      isKept={created !== undefined}
    >
      {created === undefined ? (
        <NewKeyForm
          onCreated={(key) => {
            setCreated(key);
            props.onCreated();
          }}
        />
      ) : (
        <Shown created={created} onClose={props.onClose} />
      )}
    </Dialog>
  );
}

function NewKeyForm({ onCreated }: { readonly onCreated: (key: CreatedKey) => void }) {
  const { client } = useSession();
  const [name, setName] = useState('');
  const [role, setRole] = useState<ApiKey['role']>('member');
  const [error, setError] = useState<ServiceError>();
  const [isRunning, setRunning] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setRunning(true);
    setError(undefined);
    try {
      onCreated(
        await client.post<CreatedKey>('v1/keys', { ...(name.trim() && { name: name.trim() }), role }),
      );
    } catch (error) {
      setError(toServiceError(error));
      setRunning(false);
    }
  };

  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Name"
          description="The person or application that will use this key."
          placeholder="Reception"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={64}
          error={fieldErrorMessage(error, 'name')}
          data-autofocus
        />
        <Radio.Group label="Role" value={role} onChange={(value) => setRole(value as ApiKey['role'])}>
          <Stack gap="xs" mt={4}>
            <Radio value="member" label="Member" description="Uses the service." />
            <Radio
              value="admin"
              label="Admin"
              description="Can also create and revoke keys of the organization."
            />
          </Stack>
        </Radio.Group>
        {error?.param !== 'name' && <ErrorAlert error={error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={isRunning}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Shown({ created, onClose }: { readonly created: CreatedKey; readonly onClose: () => void }) {
  return (
    <Stack>
      <Alert color="yellow" variant="light" icon={<Icon name="warning" />} p="sm">
        <Text size="sm">Copy this key now. It is not shown again.</Text>
      </Alert>
      <TextInput
        label={created.name ?? 'Key'}
        value={created.key}
        readOnly
        autoFocus={!CAN_COPY}
        onFocus={(event) => event.currentTarget.select()}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      />
      <Group justify="flex-end" gap="xs">
        {CAN_COPY && (
          <CopyButton value={created.key} timeout={3000}>
            {({ copied, copy }) => (
              <Button
                variant="default"
                leftSection={<Icon name={copied ? 'check' : 'copy'} />}
                onClick={copy}
                autoFocus
              >
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        )}
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
