import type { RestMeta } from '../procedures/meta.ts';

/** The description of an operation; of a deprecated one with the dates of its headers at the end. */
export function operationDescription({ description, deprecation }: RestMeta): string | undefined {
  if (deprecation === undefined) return description;
  const { since, sunset } = deprecation;
  const notice = `Deprecated since ${longDate(since)}${sunset ? `, removed on ${longDate(sunset)}` : ''}.`;
  return description === undefined ? notice : `${description} ${notice}`;
}

/** 5 December 2030 */
const longDate = (date: Date) => date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
