import { TextInput } from '@mantine/core';
import { useState } from 'react';

/** A code of ISO 639, or nothing. */
const CODE = /^([a-z]{2,3})?$/;

/** The language that is spoken, by its code; left empty, the service finds out. Tells of codes that can be one only. */
export function LanguageField(props: {
  readonly value: string;
  readonly onChange: (language: string) => void;
  /** What the service said of it. */
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}) {
  const [text, setText] = useState(props.value);
  const isCode = CODE.test(text);
  return (
    <TextInput
      label="Language"
      placeholder="Detected"
      value={text}
      maxLength={3}
      spellCheck={false}
      autoCapitalize="none"
      disabled={props.disabled ?? false}
      error={isCode ? props.error : 'Two letters, such as en'}
      onChange={({ currentTarget }) => {
        const code = currentTarget.value.toLowerCase();
        setText(code);
        if (CODE.test(code)) props.onChange(code);
      }}
    />
  );
}
