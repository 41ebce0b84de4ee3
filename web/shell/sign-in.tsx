import { Button, Center, Code, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { SignInProps } from '../client/session.tsx';
import { ErrorAlert } from '../components/feedback/error-alert.tsx';

/** Sign-in form for an API key. */
export function SignIn({ isTrying, error, signIn, retry }: SignInProps) {
  const [key, setKey] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() !== '') signIn(key.trim());
  };
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper component="form" onSubmit={submit} withBorder p="xl" w="100%" maw={420}>
        <Stack>
          <div>
            <Title order={1} size="h3">
              Voice service
            </Title>
            <Text c="dimmed" size="sm">
              Sign in with an API key of your organization. The key is stored only in this tab.
            </Text>
          </div>
          <PasswordInput
            label="API key"
            placeholder="sk-…"
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            error={typeof error === 'string' ? error : undefined}
            errorProps={{ role: 'alert' }}
            autoComplete="off"
            spellCheck={false}
            autoFocus
            required
            withAsterisk={false}
            visibilityToggleButtonProps={{ 'aria-label': 'Show key', tabIndex: 0 }}
          />
          {typeof error === 'object' && <ErrorAlert error={error} onRetry={retry} />}
          <Button type="submit" loading={isTrying}>
            Sign in
          </Button>
          <Text c="dimmed" size="xs">
            The first start prints a key. Create more with <Code>bun run keys create --org NAME</Code>, or as
            an admin on the API keys page.
          </Text>
        </Stack>
      </Paper>
    </Center>
  );
}
