import { ActionIcon, Button, Group, Stack, TextInput } from '@mantine/core';
import { Icon } from '../../components/icon.tsx';

export interface Pair {
  readonly key: number;
  readonly name: string;
  readonly value: string;
}

/** Maximum number of pairs that the API accepts. */
const MAX_PAIRS = 16;

/** Editor for the key-value pairs that are stored with the batch. */
export function MetadataEditor(props: {
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
}) {
  const { pairs, onChange } = props;
  const change = (key: number, field: 'name' | 'value', text: string) =>
    onChange(pairs.map((pair) => (pair.key === key ? { ...pair, [field]: text } : pair)));
  const add = () =>
    onChange([...pairs, { key: Math.max(0, ...pairs.map(({ key }) => key)) + 1, name: '', value: '' }]);
  return (
    <Stack gap="xs">
      {pairs.map(({ key, name, value }, index) => (
        <Group key={key} gap="xs" wrap="nowrap">
          <TextInput
            aria-label={`Key ${index + 1}`}
            placeholder="name"
            maxLength={64}
            value={name}
            onChange={({ currentTarget }) => change(key, 'name', currentTarget.value)}
            flex={1}
            miw={0}
          />
          <TextInput
            aria-label={`Value ${index + 1}`}
            placeholder="value"
            maxLength={512}
            value={value}
            onChange={({ currentTarget }) => change(key, 'value', currentTarget.value)}
            flex={2}
            miw={0}
          />
          <ActionIcon
            variant="default"
            aria-label={`Remove key ${index + 1}`}
            onClick={() => onChange(pairs.filter((pair) => pair.key !== key))}
          >
            <Icon name="trash" size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Button
        variant="subtle"
        size="compact-sm"
        w="fit-content"
        leftSection={<Icon name="plus" size={14} />}
        onClick={add}
        disabled={pairs.length === MAX_PAIRS}
      >
        Add metadata
      </Button>
    </Stack>
  );
}
