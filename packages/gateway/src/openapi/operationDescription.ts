import type { RestMeta } from '../procedures/meta.ts';

/** An operation's description, which of a deprecated one ends with the days that its headers name. */
export function operationDescription({ description, deprecation }: RestMeta): string | undefined {
  if (deprecation === undefined) return description;
  const { since, sunset } = deprecation;
  const notice = `Deprecated since ${inWords(since)}${sunset ? `, removed on ${inWords(sunset)}` : ''}.`;
  return description === undefined ? notice : `${description} ${notice}`;
}

/** 5 December 2030 */
const inWords = (date: Date) => date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
