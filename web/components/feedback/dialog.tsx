import { Modal } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';

/** A dialog that is open while mounted; focus returns to the previous element when it closes. */
export function Dialog(props: {
  readonly title: string;
  readonly onClose: () => void;
  /** Whether only its buttons close it, for content that is not shown again. */
  readonly isKept?: boolean;
  readonly children: ReactNode;
}) {
  const { title, onClose, isKept = false, children } = props;
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (before instanceof HTMLElement) before.focus();
    },
    [before],
  );
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeOnClickOutside={!isKept}
      closeOnEscape={!isKept}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {children}
    </Modal>
  );
}
