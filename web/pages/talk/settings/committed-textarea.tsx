import { Textarea, type TextareaProps } from '@mantine/core';
import { useState } from 'react';

interface CommittedTextareaProps
  extends Pick<TextareaProps, 'label' | 'description' | 'placeholder' | 'error' | 'minRows' | 'styles'> {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** A text area that reports its text when it loses the focus, because each report changes the session. */
export function CommittedTextarea({ value, onChange, ...props }: CommittedTextareaProps) {
  const [text, setText] = useState(value);
  return (
    <Textarea
      {...props}
      value={text}
      autosize
      maxRows={12}
      dir="auto"
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      onBlur={() => text !== value && onChange(text)}
    />
  );
}
