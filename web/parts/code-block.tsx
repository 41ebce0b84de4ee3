import { ActionIcon, Box, Code, CopyButton } from '@mantine/core';
import { Icon } from './icon.tsx';

/** Browsers let a page copy where nobody on the way can change it: over https, and on the machine itself. */
export const CAN_COPY = 'clipboard' in navigator;

/** Code or JSON as it is, with a button that copies it. */
export function CodeBlock(props: { readonly text: string; readonly label: string }) {
  return (
    <Box pos="relative">
      {/* Scrolls by itself, so it takes the keyboard too (WCAG 2.1.1). */}
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

/** A small button that copies a text and says that it did; nothing where the browser does not let it. */
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
