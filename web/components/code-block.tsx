import { ActionIcon, Box, Code, CopyButton } from '@mantine/core';
import { Icon } from './icon.tsx';

/** The Clipboard API is available in secure contexts only: https and localhost. */
export const CAN_COPY = 'clipboard' in navigator;

/** Code or JSON with a copy button. */
export function CodeBlock(props: { readonly text: string; readonly label: string }) {
  return (
    <Box pos="relative">
      {/* A scrollable region must be focusable (WCAG 2.1.1). */}
      <Code
        block
        tabIndex={0}
        role="region"
        aria-label={props.label}
        mah="28rem"
        style={{ overflow: 'auto' }}
      >
        {props.text}
      </Code>
      <Box pos="absolute" top={6} right={6}>
        <CopyAction text={props.text} label={`Copy ${props.label}`} />
      </Box>
    </Box>
  );
}

/** A small copy button with feedback; renders nothing if the Clipboard API is unavailable. */
export function CopyAction(props: { readonly text: string; readonly label: string }) {
  if (!CAN_COPY) return null;
  return (
    <CopyButton value={props.text} timeout={2000}>
      {({ copied, copy }) => (
        <ActionIcon
          variant="default"
          onClick={copy}
          aria-label={copied ? 'Copied' : props.label}
          title={copied ? 'Copied' : props.label}
        >
          <Icon name={copied ? 'check' : 'copy'} size={16} />
        </ActionIcon>
      )}
    </CopyButton>
  );
}
