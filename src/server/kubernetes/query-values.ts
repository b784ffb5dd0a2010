import { refuse } from './api-status.ts';

/**
 * A flag of a query as Kubernetes reads it: not there, `0` and `false` are false, everything else is true, the empty text too.
 */
export function isTrue(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** A number from 0 on. Throws `RequestRefused`. */
export function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw refuse(400, `${name} "${text}" is no number from 0 on`);
  return value;
}

/** Throws `RequestRefused` for anything but `All`. */
export function isDryRun(values: readonly unknown[]): boolean {
  const given = values.filter((value) => value !== '');
  if (given.some((value) => value !== 'All')) throw refuse(422, `dryRun: Unsupported value: ${JSON.stringify(given)}`);
  return given.length > 0;
}
