/**
 * Environment variables. Each is written once, with its name, type, range, default and documentation. The typed values and the
 * table of the guide follow from it.
 */

import { ConfigError } from './config-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A row of the table in docs/guide/configuration.md. */
export interface Variable<Value> {
  readonly name: string;
  /** The default as the table shows it. */
  readonly fallback: string;
  readonly meaning: string;
  /** @throws ConfigError for an invalid value; the message does not contain it, because it can be a key. */
  read(environment: Environment): Value;
}

interface Options<Default> {
  /** Value if the variable is not set. Absent: undefined. */
  readonly default?: Default;
  /** The default as the guide shows it. Absent: the default, or –. */
  readonly fallback?: string;
  readonly meaning: string;
}

/** Returns the value of a variable. An empty one counts as not set. */
export function textOf(environment: Environment, name: string): string | undefined {
  return environment[name]?.trim() || undefined;
}

export function textVariable<const Default extends string | undefined = undefined>(
  name: string,
  options: Options<Default>,
): Variable<string | Default> {
  return variable(name, options, (text) => text);
}

export function integerVariable<const Default extends number | undefined = undefined>(
  name: string,
  { min, max, ...options }: Options<Default> & { readonly min: number; readonly max: number },
): Variable<number | Default> {
  return variable(name, options, (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new ConfigError(`Environment variable ${name} must be an integer from ${min} to ${max}.`);
  });
}

/** A number from 0 to 1. */
export function shareVariable<const Default extends number | undefined = undefined>(
  name: string,
  options: Options<Default>,
): Variable<number | Default> {
  return variable(name, options, (text) => {
    const value = /^[01]?(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= 0 && value <= 1) return value;
    throw new ConfigError(`Environment variable ${name} must be a number from 0 to 1.`);
  });
}

export function choiceVariable<const Values extends readonly string[]>(
  name: string,
  {
    values,
    ...options
  }: Options<Values[number]> & { readonly values: Values; readonly default: Values[number] },
): Variable<Values[number]> {
  return variable(name, options, (text) => {
    const value: Values[number] | undefined = values.find((each) => each === text);
    if (value !== undefined) return value;
    throw new ConfigError(`Environment variable ${name} must be one of ${values.join(', ')}.`);
  });
}

/** The values of variables, by their names in the code. */
export type VariableValues<Group extends Readonly<Record<string, Variable<unknown>>>> = {
  readonly [Name in keyof Group]: Group[Name] extends Variable<infer Value> ? Value : never;
};

/** @throws ConfigError for an invalid value. */
export function readVariables<Group extends Readonly<Record<string, Variable<unknown>>>>(
  group: Group,
  environment: Environment,
): VariableValues<Group> {
  const values = Object.entries(group).map(([name, each]) => [name, each.read(environment)]);
  return Object.fromEntries(values) as VariableValues<Group>;
}

function variable<Value, Default>(
  name: string,
  { default: value, fallback = value === undefined ? '–' : String(value), meaning }: Options<Default>,
  parse: (text: string) => Value,
): Variable<Value | Default> {
  return {
    name,
    fallback,
    meaning,
    read(environment) {
      const text = textOf(environment, name);
      // Without a default, the type of the default is undefined.
      return text === undefined ? (value as Default) : parse(text);
    },
  };
}
