import { Group, Input, Slider, Text } from '@mantine/core';
import { useState } from 'react';

/** A slider with its value next to the label. Reports the value when it is released. */
export function SliderField(props: {
  readonly label: string;
  readonly value: number;
  readonly onChange: (value: number) => void;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly shown: (value: number) => string;
}) {
  const { label, min, max, step, shown } = props;
  const [value, setValue] = useState(props.value);
  return (
    <Input.Wrapper
      label={
        <Group justify="space-between" wrap="nowrap" gap="xs">
          {label}
          <Text span size="sm" c="dimmed" className="figures">
            {shown(value)}
          </Text>
        </Group>
      }
      labelElement="div"
      labelProps={{ style: { display: 'block' } }}
    >
      <Slider
        mt={8}
        value={value}
        onChange={setValue}
        onChangeEnd={props.onChange}
        label={null}
        thumbLabel={label}
        thumbValueText={shown}
        min={min}
        max={max}
        step={step}
      />
    </Input.Wrapper>
  );
}
