import {
  ActionIcon,
  AppShell,
  Badge,
  Box,
  Burger,
  Group,
  type MantineColorScheme,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { usePlugin } from '../client/plugin-states.tsx';
import { useSession } from '../client/session.tsx';
import { Icon } from '../components/icon.tsx';
import { type ConsolePage, PAGE_GROUPS } from '../pages/pages.ts';
import classes from './frame.module.css';
import { SCHEMES } from './theme.ts';

/** Header, navigation and page content. */
export function Frame({ children }: { readonly children: ReactNode }) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes the mobile navigation when the page changes
  useEffect(close, [path]);
  return (
    <AppShell
      layout="alt"
      header={{ height: 52 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <button type="button" className={classes.skip} onClick={focusContent}>
        Skip to content
      </button>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap" hiddenFrom="sm">
            <Burger
              opened={isOpen}
              onClick={toggle}
              size="sm"
              aria-label={isOpen ? 'Close navigation' : 'Open navigation'}
            />
            <Text fw={600}>Voice service</Text>
          </Group>
          <Box visibleFrom="sm" />
          <Account />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label="Pages" p="xs" className={isOpen ? undefined : classes.closed}>
        <Group h={40} px="xs" justify="space-between" wrap="nowrap">
          <Text fw={600}>Voice service</Text>
          <Burger opened onClick={close} size="sm" hiddenFrom="sm" aria-label="Close navigation" />
        </Group>
        <AppShell.Section grow component={ScrollArea}>
          {PAGE_GROUPS.map(({ title, pages }) => (
            <Box key={title} component="section" aria-label={title} mt="md">
              <Text size="xs" c="dimmed" fw={600} px="xs" mb={4}>
                {title}
              </Text>
              {pages.map((page) => (
                <PageLink key={page.path} page={page} isCurrent={`${path}/`.startsWith(`${page.path}/`)} />
              ))}
            </Box>
          ))}
        </AppShell.Section>
        <AppShell.Section>
          <Group gap="md" px="xs" py="xs">
            <a className={classes.link} href="docs">
              Docs
            </a>
            <a className={classes.link} href="swagger">
              API
            </a>
          </Group>
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes.main}>
        {children}
      </AppShell.Main>
    </AppShell>
  );
}

/** Moves the focus to the content. Not a link, because the URL fragment selects the page. */
function focusContent(): void {
  document.getElementById('content')?.focus();
}

function PageLink({ page, isCurrent }: { readonly page: ConsolePage; readonly isCurrent: boolean }) {
  const plugin = usePlugin(page.plugin);
  const state = plugin?.state ?? 'on';
  return (
    <NavLink
      component={Link}
      href={page.path}
      label={page.title}
      leftSection={<Icon name={page.icon} />}
      rightSection={
        state !== 'on' && (
          <Badge size="xs" variant="light" color={state === 'failed' ? 'red' : 'gray'}>
            {state}
          </Badge>
        )
      }
      active={isCurrent}
      aria-current={isCurrent ? 'page' : undefined}
      px="xs"
      py={6}
      className={classes.page}
    />
  );
}

/** Organization of the key, appearance menu and sign-out. */
function Account() {
  const { organization, signOut } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Group gap="sm" wrap="nowrap" miw={0}>
      <Text size="sm" truncate title="Your organization">
        {organization.id}
      </Text>
      <Badge variant="light" color="gray" size="sm" visibleFrom="xs">
        {organization.operator ? 'operator' : organization.role}
      </Badge>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon variant="default" aria-label="Appearance" title="Appearance">
            <Icon name="theme" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.RadioGroup
            value={colorScheme}
            onChange={(value) => setColorScheme(value as MantineColorScheme)}
          >
            {SCHEMES.map(({ value, label }) => (
              <Menu.RadioItem key={value} value={value}>
                {label}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
        </Menu.Dropdown>
      </Menu>
      <ActionIcon variant="default" onClick={signOut} aria-label="Sign out" title="Sign out">
        <Icon name="leave" size={16} />
      </ActionIcon>
    </Group>
  );
}
